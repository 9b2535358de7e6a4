use axum::body::Body;
use axum::http::HeaderValue;

use super::*;

fn request(version: Version, target: &str, headers: &[(&'static str, &str)]) -> Request {
    let mut request = Request::new(Body::empty());
    *request.version_mut() = version;
    *request.uri_mut() = target.parse().expect("a target");
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_str(value).expect("a value"));
    }
    let link = Link { local: Some([192, 0, 2, 7].into()), ..Link::default() };
    request.extensions_mut().insert(Arc::new(link));
    request
}

fn status(request: &Request) -> u16 {
    let hosts = Hosts::new(["Search.example.org", "2001:db8::1"]).expect("names");
    let checked = check(request, &hosts, 100)
        .and_then(|()| check_origin(request, &hosts))
        .and_then(|()| check_site(request));
    checked.map_or_else(|refused| refused.status().as_u16(), |()| 200)
}

#[test]
fn requests_for_another_host_are_refused() {
    for (host, expect) in [
        ("localhost", 200),
        ("LOCALHOST:5005", 200),
        ("localhost.", 200),
        ("127.0.0.1:5005", 200),
        ("127.0.0.9", 200),
        ("[::1]:80", 200),
        ("[::ffff:127.0.0.1]", 200),
        ("192.0.2.7:5005", 200),
        ("192.0.2.8:5005", 421),
        ("0.0.0.0", 421),
        ("search.example.org:443", 200),
        ("search.example.org.", 200),
        ("other.example.org", 421),
        ("search.example.org.evil.test", 421),
        ("localhost.evil.test", 421),
        ("127.0.0.1.evil.test", 421),
        ("[2001:db8::1]:5005", 200),
        ("evil@localhost", 400),
        ("localhost@evil", 400),
        ("", 400),
        (":80", 400),
        ("local host", 400),
        ("localhost, evil", 400),
    ] {
        let got = status(&request(Version::HTTP_11, "/", &[("host", host)]));
        assert_eq!(got, expect, "{host:?}");
    }
    let absolute = |target| status(&request(Version::HTTP_11, target, &[("host", "localhost")]));
    assert_eq!(absolute("http://127.0.0.1:5005/health"), 200);
    assert_eq!(absolute("http://evil.test/health"), 421);
    let none = |version| status(&request(version, "/", &[]));
    assert_eq!((none(Version::HTTP_11), none(Version::HTTP_10)), (400, 200));
    let two = [("host", "localhost"), ("host", "localhost")];
    assert_eq!(status(&request(Version::HTTP_11, "/", &two)), 400);
}

#[test]
fn pages_of_other_servers_are_refused() {
    for (origin, expect) in [
        ("http://localhost:3000", 200),
        ("http://192.0.2.7:5005", 200),
        ("https://search.example.org", 200),
        ("https://evil.test", 403),
        ("http://localhost.evil.test", 403),
        ("null", 403),
        ("", 403),
        ("localhost", 403),
    ] {
        let headers = [("host", "localhost"), ("origin", origin)];
        assert_eq!(status(&request(Version::HTTP_11, "/", &headers)), expect, "{origin:?}");
    }
    for (method, site, expect) in [
        (Method::POST, "same-origin", 200),
        (Method::POST, "none", 200),
        (Method::POST, "same-site", 403),
        (Method::POST, "cross-site", 403),
        (Method::GET, "cross-site", 200),
    ] {
        let headers = [("host", "localhost"), ("sec-fetch-site", site)];
        let mut request = request(Version::HTTP_11, "/", &headers);
        *request.method_mut() = method;
        assert_eq!(status(&request), expect, "{site}");
    }
}

#[test]
fn names_of_hosts_are_names_and_nothing_else() {
    for bad in ["", "*", "*.example.org", "http://a", "a/b", "a:80", "a b", "u@a", "[::1]:80"] {
        assert_eq!(Hosts::new([bad]), Err(HostError(bad.to_owned())));
    }
    assert!(Hosts::new(["a", "a.b", "10.0.0.1", "::1"]).is_ok());
}

const TOKENS: &str = "# who may search\nada: 0123456789abcdef\n\nben:fedcba9876543210\n";

#[test]
fn a_token_opens_and_nothing_like_it() {
    let tokens = Tokens::parse(TOKENS).expect("good");
    for (given, holder) in [
        (&["Bearer 0123456789abcdef"][..], Some("ada")),
        (&["bearer fedcba9876543210"], Some("ben")),
        (&["Bearer 0123456789abcdeF"], None),
        (&["Bearer 0123456789abcde"], None),
        (&["Bearer "], None),
        (&["Bearer"], None),
        (&["Basic 0123456789abcdef"], None),
        (&["0123456789abcdef"], None),
        (&["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"], None),
        (&[], None),
    ] {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
        }
        assert_eq!(tokens.holder(&headers), holder, "{given:?}");
        assert_eq!(check_token(&headers, &tokens).is_ok(), holder.is_some());
    }
    assert_eq!(format!("{tokens:?}"), "[\"ada\", \"ben\"]", "no digest in a log");
}

#[test]
fn a_list_of_tokens_that_protects_nothing_is_refused() {
    use TokenError::{Empty, Line, Token, Twice};
    for (text, error) in [
        ("", Empty),
        ("# nobody\n", Empty),
        ("ada 0123456789abcdef", Line { line: 1 }),
        (": 0123456789abcdef", Line { line: 1 }),
        ("\nada: short", Token { line: 2 }),
        ("ada: 0123456789 abcdef", Token { line: 1 }),
        ("ada: 0123456789abcdef\nada: fedcba9876543210", Twice { line: 2 }),
        ("ada: 0123456789abcdef\nben: 0123456789abcdef", Twice { line: 2 }),
    ] {
        assert_eq!(Tokens::parse(text), Err(error), "{text:?}");
    }
}
