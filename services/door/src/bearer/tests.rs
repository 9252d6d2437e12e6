//! Every way a token can be wrong, one by one, beside the token that is right.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use super::keys::KeysError;
use super::*;

const NOW: u64 = 1_500;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn terms() -> Terms {
    Terms {
        issuer: "https://issuer.example".into(),
        audience: "https://door.example/mcp".into(),
    }
}

fn ed25519(seed: u8) -> ed25519_dalek::SigningKey {
    ed25519_dalek::SigningKey::from_bytes(&[seed; 32])
}

fn jwk(seed: u8, kid: &str) -> Value {
    let public = ed25519(seed).verifying_key();
    json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": encode(public.as_bytes())})
}

fn keys(list: &Value) -> Result<Keys, KeysError> {
    Keys::read(json!({"keys": list}).to_string().as_bytes())
}

fn header() -> Value {
    json!({"alg": "EdDSA", "kid": "one", "typ": "at+jwt"})
}

fn claims() -> Value {
    json!({
        "iss": "https://issuer.example", "aud": "https://door.example/mcp", "sub": "ada",
        "nbf": 1_000, "iat": 1_000, "exp": 2_000, "groups": ["tellers"], "scope": "ignored",
    })
}

/// A token of these texts, signed with the first key.
fn signed(header: &str, claims: &str) -> String {
    let text = format!("{}.{}", encode(header), encode(claims));
    let signature = ed25519(1).sign(text.as_bytes());
    format!("{text}.{}", encode(signature.to_bytes()))
}

fn with(mut value: Value, name: &str, new: Value) -> Value {
    match new {
        Value::Null => {
            value.as_object_mut().unwrap().remove(name);
        }
        new => value[name] = new,
    }
    value
}

fn refused(token: &str) -> TokenError {
    let keys = keys(&json!([jwk(1, "one")])).ok().unwrap();
    match check(&keys, &terms(), token, NOW) {
        Ok(_) => panic!("taken: {token}"),
        Err(error) => error,
    }
}

fn taken(token: &str) -> Caller {
    let keys = keys(&json!([jwk(1, "one")])).ok().unwrap();
    check(&keys, &terms(), token, NOW).unwrap().caller()
}

#[test]
fn a_good_token_says_who_calls() {
    let caller = taken(&signed(&header().to_string(), &claims().to_string()));
    assert_eq!(&*caller.identity, "ada");
    assert_eq!(caller.group_names(), ["tellers"]);
    let several = with(
        claims(),
        "aud",
        json!(["other", "https://door.example/mcp"]),
    );
    let bare = with(header(), "typ", Value::Null);
    taken(&signed(&bare.to_string(), &several.to_string()));
    let jwt = with(header(), "typ", json!("JWT"));
    let without = with(claims(), "groups", Value::Null);
    assert!(
        taken(&signed(&jwt.to_string(), &without.to_string()))
            .groups
            .is_empty()
    );
}

#[test]
fn no_token_chooses_how_it_is_verified() {
    let good = claims().to_string();
    for (name, value, expected) in [
        ("alg", json!("none"), TokenError::Algorithm),
        ("alg", json!("None"), TokenError::Algorithm),
        ("alg", json!("nOnE"), TokenError::Algorithm),
        ("alg", json!("HS256"), TokenError::Algorithm),
        ("alg", json!("RS256"), TokenError::Algorithm),
        ("alg", json!("eddsa"), TokenError::Algorithm),
        ("alg", json!(["EdDSA"]), TokenError::Header),
        ("alg", Value::Null, TokenError::Header),
        ("kid", Value::Null, TokenError::Header),
        ("kid", json!(1), TokenError::Header),
        ("kid", json!(""), TokenError::Key),
        ("kid", json!("two"), TokenError::Key),
        ("kid", json!("ONE"), TokenError::Key),
        ("kid", json!("../../one"), TokenError::Key),
        ("kid", json!("' OR 1=1 --"), TokenError::Key),
        ("typ", json!("cs-session+jwt"), TokenError::Type),
        ("typ", json!("dpop+jwt"), TokenError::Type),
        ("typ", json!(""), TokenError::Type),
        ("crit", json!(["exp"]), TokenError::Header),
        ("b64", json!(false), TokenError::Header),
        (
            "jku",
            json!("https://attacker.example/keys"),
            TokenError::Header,
        ),
        ("jwk", jwk(2, "two"), TokenError::Header),
        (
            "x5u",
            json!("https://attacker.example/cert"),
            TokenError::Header,
        ),
        ("x5c", json!(["AAAA"]), TokenError::Header),
        ("zip", json!("DEF"), TokenError::Header),
    ] {
        let token = signed(&with(header(), name, value.clone()).to_string(), &good);
        assert_eq!(refused(&token), expected, "{name} {value}");
    }
    for text in [
        r#"{"alg":"EdDSA","kid":"one","kid":"two"}"#,
        r#"{"alg":"EdDSA","Alg":"none","kid":"one","kid":"one"}"#,
        r#"["EdDSA","one"]"#,
        r#"{"alg":"EdDSA","kid":"one"} "x""#,
        "",
    ] {
        let error = refused(&signed(text, &good));
        assert!(
            matches!(error, TokenError::Header | TokenError::Form),
            "{text} {error}"
        );
    }
    // The public key's bytes as the secret of a MAC: there is no MAC here at all.
    let text = format!(
        "{}.{}",
        encode(r#"{"alg":"HS256","kid":"one"}"#),
        encode(&good)
    );
    assert_eq!(
        refused(&format!("{text}.{}", encode([7; 32]))),
        TokenError::Algorithm
    );
}

#[test]
fn claims_are_all_there_and_of_their_types() {
    let good = header().to_string();
    let cases = [
        (
            "iss",
            json!("https://issuer.example/"),
            TokenError::Audience,
        ),
        ("iss", json!(["https://issuer.example"]), TokenError::Claims),
        ("aud", json!("https://panel.example"), TokenError::Audience),
        ("aud", json!([]), TokenError::Audience),
        (
            "aud",
            json!(["https://door.example/mcp", 1]),
            TokenError::Claims,
        ),
        (
            "aud",
            json!({"https://door.example/mcp": 1}),
            TokenError::Claims,
        ),
        ("sub", json!(7), TokenError::Claims),
        ("sub", json!(""), TokenError::Claims),
        ("sub", json!("server one"), TokenError::Claims),
        ("sub", json!("ad\u{202e}a"), TokenError::Claims),
        ("sub", json!("a".repeat(256)), TokenError::Claims),
        ("exp", json!("2000"), TokenError::Claims),
        ("exp", json!(2000.5), TokenError::Claims),
        ("exp", json!(-1), TokenError::Claims),
        ("exp", json!(1_000), TokenError::Lifetime),
        ("exp", json!(NOW - 5), TokenError::Time),
        ("exp", json!(NOW - 30), TokenError::Time),
        ("nbf", json!("1000"), TokenError::Claims),
        ("nbf", json!(NOW + 6), TokenError::Time),
        ("iat", json!(NOW + 120), TokenError::Time),
        ("iat", json!("1000"), TokenError::Claims),
        ("groups", json!("tellers"), TokenError::Claims),
        ("groups", json!(["tellers", 1]), TokenError::Claims),
        ("groups", json!([""]), TokenError::Claims),
        ("cnf", json!({"jkt": "x"}), TokenError::Type),
    ];
    for (name, value, expected) in cases {
        let token = signed(&good, &with(claims(), name, value.clone()).to_string());
        assert_eq!(refused(&token), expected, "{name} {value}");
    }
    for name in ["iss", "aud", "sub", "exp", "nbf"] {
        let token = signed(&good, &with(claims(), name, Value::Null).to_string());
        assert_eq!(refused(&token), TokenError::Claims, "{name}");
    }
    for exponent in ["2e3", "2000.0", "null", "true"] {
        let text = claims()
            .to_string()
            .replace("\"exp\":2000", &format!("\"exp\":{exponent}"));
        assert_eq!(
            refused(&signed(&good, &text)),
            TokenError::Claims,
            "{exponent}"
        );
    }
    let twice = claims()
        .to_string()
        .replace("\"sub\":\"ada\"", r#""sub":"ada","sub":"bob""#);
    assert_eq!(refused(&signed(&good, &twice)), TokenError::Claims);
    // Within the leeway clocks may differ.
    taken(&signed(
        &good,
        &with(claims(), "nbf", json!(NOW + 5)).to_string(),
    ));
    taken(&signed(
        &good,
        &with(claims(), "exp", json!(NOW - 4)).to_string(),
    ));
}

#[test]
fn a_token_with_anything_touched_is_refused() {
    let good = signed(&header().to_string(), &claims().to_string());
    let (text, signature) = good.rsplit_once('.').unwrap();
    let mut other = URL_SAFE_NO_PAD.decode(signature).unwrap();
    other[3] ^= 1;
    assert_eq!(
        refused(&format!("{text}.{}", encode(&other))),
        TokenError::Signature
    );
    let bob = encode(with(claims(), "sub", json!("bob")).to_string());
    let (head, _) = text.split_once('.').unwrap();
    assert_eq!(
        refused(&format!("{head}.{bob}.{signature}")),
        TokenError::Signature
    );
    // S + L is the same signature to a lax verifier.
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut malleable = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let mut carry = 0;
    for (byte, add) in malleable[32..].iter_mut().zip(L) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    assert_eq!(
        refused(&format!("{text}.{}", encode(&malleable))),
        TokenError::Signature
    );
    for token in [
        format!("{good}."),
        format!("{good}="),
        format!("{good} "),
        format!("{text}."),
        text.to_owned(),
        String::new(),
        "a.b.c".to_owned(),
        good.replace('.', ".."),
        "x".repeat(TOKEN_BYTES_MAX + 1),
    ] {
        assert_eq!(refused(&token), TokenError::Form, "{token}");
    }
}

/// Made once with OpenSSL; the private half is gone.
const RSA_MODULUS: &str = "o1ci6w9FPQsSaFoFD_IwFfEr4NoRBq5G7Ueqq1VX-pB1sMmIC2FYgY_7AYHzFyXUXNsgyXPcB8c4Ra0JRBqbYR2J9I\
     aaJgMmomuoSOA-fM_oJCjaG4PHTPuB4v0W-y1JkWlsER4-KkSFY0ohiOIXQJrBHDlwxsoECwstJnt6rraexPYIZxSS\
     ITjoSossZ8UFOczHy2BO0VQcphIgDvTLfHlV2obsvVk9gvjNnIk5TOFp3qD_cSOG3shz314QdL3DAlbF6UssA_pxn6\
     8vWvf31AbteQlyrl6GhFF8ZANEramT08OPNOfDTaY5girPkNP1If5mjD1i0t0Ip9JHkuHybQ";
const RSA_TOKEN: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYS0xIiwidHlwIjoiYXQrand0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci\
     5leGFtcGxlIiwiYXVkIjoiaHR0cHM6Ly9kb29yLmV4YW1wbGUvbWNwIiwic3ViIjoiYWRhIiwibmJmIjoxMDAwLCJl\
     eHAiOjIwMDB9.Zm3BMbixhV57_N4At3RYzllIqwQFqwAD95-PBR0bWpBteYXBEr6XXYsf02zt8TDeOQHis6fbLzmhn\
     mBaIfQStTVrzmkoiDK-uToKz8cre8w7FhHewc-bsC9WrKMZNnMEcL7G6DCR36v5ZeTQOjG2zG6QLE9RuMrfAAfsdlK\
     lvOl1NVJZf8htgHrwxurrtV-mVD7Wxu5mmO84XdPTPa32jILCBeBZoTZgJq6w_UHGlny5P2rP5hj-7MJK0hl6tLBOV\
     fc4jfhrNB3qqnRLmLtQNXkGO8Ie8v0xhkjkkf4mu9A6-ad3JjCYrt8MNZEvz81z9nFI-4f4d9_IUxGFgN7Wuw";

#[test]
fn each_key_verifies_its_own_algorithm_alone() {
    let rsa = json!({"kty": "RSA", "kid": "rsa-1", "n": RSA_MODULUS, "e": "AQAB", "alg": "RS256"});
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random)
        .unwrap();
    let point = pair.public_key().as_ref();
    let p256 = json!({"kty": "EC", "crv": "P-256", "kid": "ec-1", "x": encode(&point[1..33]), "y": encode(&point[33..])});
    let keys = keys(&json!([rsa, p256, jwk(1, "one")])).ok().unwrap();
    let caller =
        |token: &str| check(&keys, &terms(), token, NOW).map(|claims| claims.caller().identity);
    assert_eq!(caller(RSA_TOKEN).as_deref(), Ok("ada"));
    let ec = |kid: &str, alg: &str| {
        let head = json!({"alg": alg, "kid": kid});
        let text = format!(
            "{}.{}",
            encode(head.to_string()),
            encode(claims().to_string())
        );
        let signature = pair.sign(&random, text.as_bytes()).unwrap();
        format!("{text}.{}", encode(signature.as_ref()))
    };
    assert_eq!(caller(&ec("ec-1", "ES256")).as_deref(), Ok("ada"));
    assert_eq!(caller(&ec("ec-1", "EdDSA")), Err(TokenError::Algorithm));
    assert_eq!(caller(&ec("rsa-1", "RS256")), Err(TokenError::Signature));
    assert_eq!(caller(&ec("one", "ES256")), Err(TokenError::Algorithm));
    let touched = RSA_TOKEN.replacen("eyJ", "eyJ9", 1);
    assert!(caller(&touched).is_err());
}

#[test]
fn a_file_of_keys_holds_sound_public_keys_with_names() {
    let one = || jwk(1, "one");
    for (list, expected) in [
        (json!([]), KeysError::Count),
        (json!({}), KeysError::Malformed),
        (json!([1]), KeysError::Malformed),
        (json!([one(), one()]), KeysError::Twice),
        (json!([with(one(), "d", json!("AAAA"))]), KeysError::Private),
        (
            json!([one(), {"kty": "oct", "kid": "mac", "k": "AAAA"}]),
            KeysError::Private,
        ),
        // The identity, which verifies signatures of nobody.
        (
            json!([with(
                one(),
                "x",
                json!(encode([&[1_u8][..], &[0; 31]].concat()))
            )]),
            KeysError::Unsound(1),
        ),
        (
            json!([with(one(), "x", json!("AAAA"))]),
            KeysError::Unsound(1),
        ),
        (
            json!([one(), {"kty": "RSA", "kid": "r", "n": encode([255; 128]), "e": "AQAB"}]),
            KeysError::Unsound(2),
        ),
        (json!([with(one(), "kid", Value::Null)]), KeysError::Count),
        (json!([with(one(), "use", json!("enc"))]), KeysError::Count),
        (
            json!([with(one(), "alg", json!("ES256"))]),
            KeysError::Count,
        ),
        (
            json!([with(one(), "key_ops", json!(["sign"]))]),
            KeysError::Count,
        ),
        (
            json!([{"kty": "EC", "crv": "P-521", "kid": "e", "x": "AA", "y": "AA"}]),
            KeysError::Count,
        ),
    ] {
        assert_eq!(keys(&list).err(), Some(expected), "{list}");
    }
    // Others may stand beside those that are of use.
    let others = json!([one(), {"kty": "EC", "crv": "P-521", "kid": "e"}, with(jwk(2, "two"), "use", json!("enc"))]);
    assert!(keys(&others).is_ok());
    assert_eq!(
        Keys::read(br#"{"keys":[],"keys":[]}"#).err(),
        Some(KeysError::Malformed)
    );
}

#[test]
fn a_key_that_leaves_the_file_takes_its_tokens_with_it() {
    let directory = std::env::temp_dir().join(format!("bearers-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("keys.json");
    let write = |list: Value| {
        // Another length each time: two writes may fall into one tick of the file's clock.
        std::fs::write(&file, json!({"keys": list}).to_string()).unwrap();
    };
    write(json!([jwk(1, "one")]));
    let bearers = Bearers::open(file.clone(), terms()).unwrap();
    let token = signed(&header().to_string(), &claims().to_string());
    let mut headers = HeaderMap::new();
    headers.insert(
        header::AUTHORIZATION,
        format!("bEARER {token}").parse().unwrap(),
    );
    let verify = || bearers.verify(&headers, NOW).map(|caller| caller.identity);
    assert_eq!(verify().as_deref(), Ok("ada"));
    // Remembered, and only as long as it is good.
    assert_eq!(
        bearers.verify(&headers, 2_005).err(),
        Some(TokenError::Time)
    );
    write(json!([jwk(1, "one"), jwk(2, "two")]));
    bearers.look();
    assert_eq!(
        verify().as_deref(),
        Ok("ada"),
        "both are good while they overlap"
    );
    std::fs::write(&file, "{").unwrap();
    bearers.look();
    assert_eq!(
        verify().as_deref(),
        Ok("ada"),
        "a broken file changes nothing"
    );
    write(json!([jwk(2, "two")]));
    bearers.look();
    assert_eq!(verify().err(), Some(TokenError::Key));
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(Bearers::open(file.clone(), terms()).is_err());
}

#[test]
fn a_request_has_one_token_in_one_header() {
    let of = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        token_of(&headers).map(str::to_owned)
    };
    assert_eq!(of(&["Bearer a.b.c"]).as_deref(), Ok("a.b.c"));
    assert_eq!(of(&[]), Err(TokenError::Missing));
    assert_eq!(of(&["Basic YTpi"]), Err(TokenError::Missing));
    assert_eq!(
        of(&["Bearer a.b.c", "Bearer a.b.c"]),
        Err(TokenError::MoreThanOne)
    );
    assert_eq!(
        of(&["Bearer a.b.c, Bearer d.e.f"]),
        Err(TokenError::MoreThanOne)
    );
    assert_eq!(of(&["Bearer"]), Err(TokenError::Form));
    assert_eq!(refused(&of(&["Bearer  a.b.c"]).unwrap()), TokenError::Form);
}
