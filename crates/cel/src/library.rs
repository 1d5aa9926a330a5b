//! The functions that a rule can call: CEL's standard functions, and Kubernetes' libraries as of 1.34
//! (`pkg/cel/environment/base.go` of k8s.io/apiserver).

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::types::Type;

#[derive(Debug)]
pub struct Overload {
    /// Called as `receiver.function(args)`.
    pub member: bool,
    /// Types of the arguments, the receiver first.
    pub args: Vec<Type>,
    pub result: Type,
}

pub fn overloads(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function).map(Vec::as_slice)
}

/// Names of functions that can be written in an expression; excludes operators.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.keys().copied().filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

static FUNCTIONS: LazyLock<BTreeMap<&str, Vec<Overload>>> = LazyLock::new(|| {
    let mut functions = BTreeMap::<_, Vec<_>>::new();
    for line in TABLE.lines() {
        let (name, signatures) = line.split_once(' ').expect("a name and its signatures");
        for signature in signatures.split('|') {
            let expand = |set: char, types: &'static [&str]| {
                let with = move |type_: &&str| signature.replace(set, type_);
                if signature.contains(set) { types.iter().map(with).collect() } else { Vec::new() }
            };
            let mut expanded = expand('#', &COMPARABLE);
            expanded.extend(expand('$', &ADDABLE));
            if expanded.is_empty() {
                expanded.push(signature.to_owned());
            }
            functions.entry(name).or_default().extend(expanded.iter().map(|signature| overload(signature)));
        }
    }
    functions
});

/// Types that `#` in a signature expands to.
const COMPARABLE: [&str; 8] = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];

/// Types that `$` in a signature expands to.
const ADDABLE: [&str; 4] = ["int", "uint", "double", "duration"];

/// Parses `receiver.(arguments) -> result`, or without a receiver. Single capital letters are type parameters.
fn overload(signature: &str) -> Overload {
    let (args, result) = signature.trim().rsplit_once(" -> ").expect("a result");
    let open =
        args.find('(').filter(|_| args.starts_with('(')).unwrap_or_else(|| args.find(".(").map_or(0, |at| at + 1));
    let mut types: Vec<Type> = Vec::new();
    let member = open > 0;
    if member {
        types.push(type_of(&args[..open - 1]));
    }
    types.extend(split(&args[open + 1..args.len() - 1]).into_iter().map(type_of));
    Overload { member, args: types, result: type_of(result) }
}

fn type_of(text: &str) -> Type {
    let text = text.trim();
    if let Some((name, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let mut inner = split(inner).into_iter().map(|inner| Arc::new(type_of(inner)));
        let mut next = || inner.next().expect("as many as the type has");
        return match name {
            "list" => Type::List(next()),
            "map" => Type::Map(next(), next()),
            "optional" => Type::Optional(next()),
            _ => Type::Meta(next()),
        };
    }
    match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "dyn" => Type::Dyn,
        _ if text.len() == 1 => Type::Variable(u32::from(text.as_bytes()[0])),
        _ => Type::Library(LIBRARY_TYPES.into_iter().find(|name| *name == text).expect("a type of a library")),
    }
}

const LIBRARY_TYPES: [&str; 11] = [
    "Quantity",
    "URL",
    "Semver",
    "IP",
    "CIDR",
    "NamedFormat",
    "Authorizer",
    "PathCheck",
    "GroupCheck",
    "ResourceCheck",
    "Decision",
];

/// Splits at the commas outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list.trim().is_empty() {
        parts.push(&list[start..]);
    }
    parts
}

const TABLE: &str = "\
!_ (bool) -> bool
-_ (double) -> double | (int) -> int
@in (A, list(A)) -> bool | (A, map(A, B)) -> bool
@not_strictly_false (bool) -> bool
@sortByAssociatedKeys list(T).(list(#)) -> list(T)
_!=_ (A, A) -> bool
_%_ (int, int) -> int | (uint, uint) -> uint
_&&_ (bool, bool) -> bool
_*_ (double, double) -> double | (int, int) -> int | (uint, uint) -> uint
_+_ (bytes, bytes) -> bytes | (duration, timestamp) -> timestamp | (timestamp, duration) -> timestamp | (list(A), list(A)) -> list(A) | (string, string) -> string | ($, $) -> $
_-_ (timestamp, duration) -> timestamp | (timestamp, timestamp) -> duration | ($, $) -> $
_/_ (double, double) -> double | (int, int) -> int | (uint, uint) -> uint
_<=_ (int, double) -> bool | (#, #) -> bool | (int, uint) -> bool | (uint, double) -> bool | (uint, int) -> bool | (double, int) -> bool | (double, uint) -> bool
_<_ (int, double) -> bool | (#, #) -> bool | (int, uint) -> bool | (uint, double) -> bool | (uint, int) -> bool | (double, int) -> bool | (double, uint) -> bool
_==_ (A, A) -> bool
_>=_ (int, double) -> bool | (#, #) -> bool | (int, uint) -> bool | (uint, double) -> bool | (uint, int) -> bool | (double, int) -> bool | (double, uint) -> bool
_>_ (int, double) -> bool | (#, #) -> bool | (int, uint) -> bool | (uint, double) -> bool | (uint, int) -> bool | (double, int) -> bool | (double, uint) -> bool
_?._ (dyn, string) -> optional(V)
_?_:_ (bool, A, A) -> A
_[?_] (list(V), int) -> optional(V) | (optional(list(V)), int) -> optional(V) | (map(K, V), K) -> optional(V) | (optional(map(K, V)), K) -> optional(V)
_[_] (list(A), int) -> A | (map(A, B), A) -> B | (optional(list(V)), int) -> optional(V) | (optional(map(K, V)), K) -> optional(V)
__not_strictly_false__ (bool) -> bool
_in_ (A, list(A)) -> bool | (A, map(A, B)) -> bool
_||_ (bool, bool) -> bool
add Quantity.(Quantity) -> Quantity | Quantity.(int) -> Quantity
allowed Decision.() -> bool
asApproximateFloat Quantity.() -> double
asInteger Quantity.() -> int
bool (bool) -> bool | (string) -> bool
bytes (bytes) -> bytes | (string) -> bytes
cel.@mapInsert (map(K, V), K, V) -> map(K, V) | (map(K, V), map(K, V)) -> map(K, V)
charAt string.(int) -> string
check PathCheck.(string) -> Decision | ResourceCheck.(string) -> Decision
cidr (string) -> CIDR
compareTo Quantity.(Quantity) -> int | Semver.(Semver) -> int
contains string.(string) -> bool
containsCIDR CIDR.(string) -> bool | CIDR.(CIDR) -> bool
containsIP CIDR.(string) -> bool | CIDR.(IP) -> bool
distinct list(T).() -> list(T)
double (double) -> double | (int) -> double | (string) -> double | (uint) -> double
duration (duration) -> duration | (int) -> duration | (string) -> duration
dyn (A) -> dyn
endsWith string.(string) -> bool
error Decision.() -> string
errored Decision.() -> bool
family IP.() -> int
fieldSelector ResourceCheck.(string) -> ResourceCheck
find string.(string) -> string
findAll string.(string) -> list(string) | string.(string, int) -> list(string)
first list(V).() -> optional(V)
flatten list(list(T)).() -> list(T) | list(dyn).(int) -> list(dyn)
format string.(list(dyn)) -> string
format.byte () -> NamedFormat
format.date () -> NamedFormat
format.datetime () -> NamedFormat
format.dns1035Label () -> NamedFormat
format.dns1035LabelPrefix () -> NamedFormat
format.dns1123Label () -> NamedFormat
format.dns1123LabelPrefix () -> NamedFormat
format.dns1123Subdomain () -> NamedFormat
format.dns1123SubdomainPrefix () -> NamedFormat
format.labelValue () -> NamedFormat
format.named (string) -> optional(NamedFormat)
format.qualifiedName () -> NamedFormat
format.uri () -> NamedFormat
format.uuid () -> NamedFormat
getDate timestamp.() -> int | timestamp.(string) -> int
getDayOfMonth timestamp.() -> int | timestamp.(string) -> int
getDayOfWeek timestamp.() -> int | timestamp.(string) -> int
getDayOfYear timestamp.() -> int | timestamp.(string) -> int
getEscapedPath URL.() -> string
getFullYear timestamp.() -> int | timestamp.(string) -> int
getHost URL.() -> string
getHostname URL.() -> string
getHours timestamp.() -> int | timestamp.(string) -> int | duration.() -> int
getMilliseconds timestamp.() -> int | timestamp.(string) -> int | duration.() -> int
getMinutes timestamp.() -> int | timestamp.(string) -> int | duration.() -> int
getMonth timestamp.() -> int | timestamp.(string) -> int
getPort URL.() -> string
getQuery URL.() -> map(string, list(string))
getScheme URL.() -> string
getSeconds timestamp.() -> int | timestamp.(string) -> int | duration.() -> int
group Authorizer.(string) -> GroupCheck
hasValue optional(V).() -> bool
in (A, list(A)) -> bool | (A, map(A, B)) -> bool
indexOf list(A).(A) -> int | string.(string) -> int | string.(string, int) -> int
int (int) -> int | (double) -> int | (duration) -> int | (string) -> int | (timestamp) -> int | (uint) -> int
ip (string) -> IP | CIDR.() -> IP
ip.isCanonical (string) -> bool
isCIDR (string) -> bool
isGlobalUnicast IP.() -> bool
isGreaterThan Quantity.(Quantity) -> bool | Semver.(Semver) -> bool
isIP (string) -> bool
isInteger Quantity.() -> bool
isLessThan Quantity.(Quantity) -> bool | Semver.(Semver) -> bool
isLinkLocalMulticast IP.() -> bool
isLinkLocalUnicast IP.() -> bool
isLoopback IP.() -> bool
isQuantity (string) -> bool
isSemver (string) -> bool | (string, bool) -> bool
isSorted list(#).() -> bool
isURL (string) -> bool
isUnspecified IP.() -> bool
join list(string).() -> string | list(string).(string) -> string
labelSelector ResourceCheck.(string) -> ResourceCheck
last list(V).() -> optional(V)
lastIndexOf list(A).(A) -> int | string.(string) -> int | string.(string, int) -> int
lists.range (int) -> list(int)
lowerAscii string.() -> string
major Semver.() -> int
masked CIDR.() -> CIDR
matches (string, string) -> bool | string.(string) -> bool
max list(#).() -> #
min list(#).() -> #
minor Semver.() -> int
name ResourceCheck.(string) -> ResourceCheck
namespace ResourceCheck.(string) -> ResourceCheck
optional.none () -> optional(V)
optional.of (V) -> optional(V)
optional.ofNonZeroValue (V) -> optional(V)
optional.unwrap (list(optional(V))) -> list(V)
or optional(V).(optional(V)) -> optional(V)
orValue optional(V).(V) -> V
patch Semver.() -> int
path Authorizer.(string) -> PathCheck
prefixLength CIDR.() -> int
quantity (string) -> Quantity
reason Decision.() -> string
replace string.(string, string) -> string | string.(string, string, int) -> string
resource GroupCheck.(string) -> ResourceCheck
reverse list(T).() -> list(T)
semver (string) -> Semver | (string, bool) -> Semver
serviceAccount Authorizer.(string, string) -> Authorizer
sets.contains (list(T), list(T)) -> bool
sets.equivalent (list(T), list(T)) -> bool
sets.intersects (list(T), list(T)) -> bool
sign (Quantity) -> int
size (bytes) -> int | bytes.() -> int | (list(A)) -> int | list(A).() -> int | (map(A, B)) -> int | map(A, B).() -> int | (string) -> int | string.() -> int
slice list(T).(int, int) -> list(T)
sort list(#).() -> list(#)
split string.(string) -> list(string) | string.(string, int) -> list(string)
startsWith string.(string) -> bool
string (IP) -> string | (CIDR) -> string | (#) -> string
strings.quote (string) -> string
sub Quantity.(Quantity) -> Quantity | Quantity.(int) -> Quantity
subresource ResourceCheck.(string) -> ResourceCheck
substring string.(int) -> string | string.(int, int) -> string
sum list($).() -> $
timestamp (timestamp) -> timestamp | (int) -> timestamp | (string) -> timestamp
trim string.() -> string
type (A) -> type(A)
uint (uint) -> uint | (double) -> uint | (int) -> uint | (string) -> uint
unwrapOpt list(optional(V)).() -> list(V)
upperAscii string.() -> string
url (string) -> URL
validate NamedFormat.(string) -> optional(list(string))
value optional(V).() -> V";
