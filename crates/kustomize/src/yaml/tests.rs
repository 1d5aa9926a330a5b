use super::*;

fn json(text: &str) -> Result<String, String> {
    let file = SourceFile::new("a.yaml", text);
    match documents(&file, Dialect::Kubectl) {
        Ok(documents) => Ok(documents.iter().map(|node| node.json().to_string()).collect::<Vec<_>>().join(" ")),
        Err(problem) => Err(format!("{} at {}", problem.message, problem.span.unwrap().0)),
    }
}

#[test]
fn reads_what_people_write() {
    let cases = [
        ("", ""),
        ("---\n---\n# only a comment\n", ""),
        ("a: 1\n---\nb: [x, {z: y}]\n", r#"{"a":1} {"b":["x",{"z":true}]}"#),
        ("\u{feff}a: b\n", r#"{"a":"b"}"#),
        ("a: b\r\nc: |\r\n  d\r\n  e\r\n", r#"{"a":"b","c":"d\ne\n"}"#),
        ("base: &b {x: 1, z: 2}\na: {<<: *b, z: 3}\n", r#"{"a":{"x":1,"z":3},"base":{"x":1,"z":2}}"#),
        ("base: &b {x: 1, z: 2}\na: {!!merge <<: *b, z: 3}\n", r#"{"a":{"x":1,"z":3},"base":{"x":1,"z":2}}"#),
        ("a: &x [1]\nb: *x\n", r#"{"a":[1],"b":[1]}"#),
        (
            "a:\n  b: \"one\n  two\n\n  three\"\n  c: 'four\n  five'\n",
            r#"{"a":{"b":"one two\nthree","c":"four five"}}"#,
        ),
        ("{\"a\": 1}{\"a\": 2}\n{\"a\": \"}\"}\n", r#"{"a":1} {"a":2} {"a":"}"}"#),
        ("\"<<\": a\n", r#"{"<<":"a"}"#),
        ("true: a\n1: b\n", r#"{"1":"b","true":"a"}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn refuses_what_kubernetes_does_not_read() {
    let cases = [
        ("a: 1\nb: 2\na: 3\n", "the key `a` is here twice at a.yaml:3:1"),
        ("~: a\n", "a key cannot be `null`; quote it if it is a string at a.yaml:1:1"),
        ("[a]: b\n", "a key must be a string at a.yaml:1:3"),
        ("a: .inf\n", "`.inf` is a number that JSON does not have at a.yaml:1:4"),
        ("{\"a\": 1}\n{\"b\":\n 1, \"b\": 2}", "the key `b` is here twice at a.yaml:3:5"),
        ("a: &x [*x]\n", "this alias is inside the value that it refers to at a.yaml:1:8"),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text), Err(expected.to_owned()), "{text}");
    }
    assert!(json("a:\n\tb: c\n").unwrap_err().starts_with("this is not valid YAML"));
    let bomb: String = (0..30).map(|n| format!("a{}: &a{} [*a{n}, *a{n}]\n", n + 1, n + 1)).collect();
    assert!(json(&format!("a0: &a0 x\n{bomb}")).unwrap_err().starts_with("this is more than Kubernetes reads"));
}

#[test]
fn places_are_of_keys_and_values() {
    let file =
        SourceFile::new("a.yaml", "a:\n  - name: ü x\n    b: \"c\"\npatch: |-\n  op: add\n  path: /ä\nd:\n  e: f\n");
    let root = documents(&file, Dialect::Kubectl).unwrap().remove(0);
    let shown = |span: &Span| format!("{span} {}", &file.text[span.range.clone()]);
    let item = &root.at(&["a"]).unwrap().items()[0];
    assert_eq!(shown(&item.span), "a.yaml:2:5 name: ü x");
    assert_eq!(shown(&item.get("b").unwrap().span), "a.yaml:3:8 \"c\"");
    assert_eq!(shown(&item.entries()[1].key_span), "a.yaml:3:5 b");
    assert_eq!(shown(&root.at(&["d", "e"]).unwrap().span), "a.yaml:8:6 f");
    let patch = root.get("patch").unwrap();
    let inside = documents_in(patch.as_text().unwrap(), &patch.span).unwrap().remove(0);
    assert_eq!(shown(&inside.get("path").unwrap().span), "a.yaml:6:9 /ä");
}
