use std::time::Duration;

use super::pair::{SPARE, VALID, Verdict};
use super::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn a_pair_is_good_for_its_names_and_for_two_thirds_of_its_time() {
    let now = SystemTime::now();
    let names = ["a.example.com", "127.0.0.1"].map(str::to_owned);
    let pair = Pair::issue("shop", &names, now).unwrap();
    let other = Pair::issue("shop", &names, now).unwrap();
    let after = |days: u32| pair.verify(&names, now + DAY * days);
    assert!(matches!((after(0), after(59)), (Verdict::Good, Verdict::Good)));
    assert!(matches!((after(60), after(89)), (Verdict::Ending, Verdict::Ending)));
    assert!(matches!(after(90), Verdict::Bad(_)));
    assert_eq!((VALID, SPARE), (DAY * 90, DAY * 30));
    let others = ["b.example.com".to_owned()];
    assert!(matches!(pair.verify(&others, now), Verdict::Bad(_)));
    let mixed = Pair { key: other.key.clone(), ..pair.clone() };
    assert!(matches!(mixed.verify(&names, now), Verdict::Bad(_)));
    let distrusted = Pair { bundle: other.bundle, ..pair };
    assert!(matches!(distrusted.verify(&names, now), Verdict::Bad(_)));
    assert!(matches!(Pair::default().verify(&names, now), Verdict::Bad(_)));
}

#[test]
fn the_host_of_a_url_is_a_name_of_the_certificate() {
    for (url, host) in [
        ("https://127.0.0.1:9443", "127.0.0.1"),
        ("https://[::1]:9443/", "::1"),
        ("https://tunnel.example.com/a", "tunnel.example.com"),
    ] {
        let names = names_of_url(url).unwrap();
        assert_eq!(names, [host, "localhost"]);
        let now = SystemTime::now();
        let pair = Pair::issue("shop", &names, now).unwrap();
        assert!(matches!(pair.verify(&names, now), Verdict::Good));
    }
    assert!(names_of_url("9443").is_err());
}
