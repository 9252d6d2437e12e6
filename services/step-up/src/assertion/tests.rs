use countersign_soft_passkey::{Saying, SoftPasskey, USER_PRESENT, USER_VERIFIED};
use serde_json::{Value, json};

use super::*;

const ORIGIN: &str = "http://localhost:8480";
const CHALLENGE: [u8; 32] = [7; 32];
const CUSTOMER: &str = "cus_1";

fn page() -> RelyingParty {
    RelyingParty::new(ORIGIN).unwrap()
}

fn enrolled(passkey: &SoftPasskey) -> StoredPasskey {
    let answer = serde_json::from_value(passkey.create(ORIGIN, &[1; 32])).unwrap();
    let new = page().register(&[1; 32], &answer).unwrap();
    assert_eq!(new.id, passkey.id());
    StoredPasskey {
        credential: new.credential,
        counter: new.counter,
    }
}

fn payment() -> Payment {
    Payment {
        payee_name: "Bob Smith".into(),
        value: "20.00".into(),
        currency: "EUR".into(),
        instrument: "Current ·· 0013".into(),
    }
}

fn verify(stored: &StoredPasskey, answer: Value) -> Result<Proof, AssertionError> {
    let answer: Assertion = serde_json::from_value(answer).unwrap();
    page().verify(&CHALLENGE, CUSTOMER, stored, Some(&payment()), &answer)
}

fn payment_saying() -> Saying {
    let mut saying = Saying::honest(ORIGIN, &CHALLENGE);
    saying.client_data["type"] = json!("payment.get");
    saying.client_data["payment"] = json!({
        "rpId": "localhost", "topOrigin": ORIGIN, "payeeName": "Bob Smith",
        "total": {"value": "20.00", "currency": "EUR"},
        "instrument": {"displayName": "Current ·· 0013", "icon": "data:image/png;base64,"},
    });
    saying
}

#[test]
fn an_honest_answer_counts_and_carries_its_own_proof() {
    let passkey = SoftPasskey::new(1);
    let stored = enrolled(&passkey);
    let proof = verify(&stored, passkey.get(ORIGIN, &CHALLENGE)).unwrap();
    assert_eq!(proof.kind, ProofKind::Passkey);
    assert_eq!(proof.credential_hash, crate::credential_hash(passkey.id()));
    assert_eq!(
        proof.client_data_hash,
        <[u8; 32]>::from(Sha256::digest(&proof.client_data))
    );
}

#[test]
fn every_part_that_is_not_the_one_asked_for_is_refused() {
    let passkey = SoftPasskey::new(1);
    let stored = enrolled(&passkey);
    let wrong = |change: &dyn Fn(&mut Saying)| {
        let mut saying = Saying::honest(ORIGIN, &CHALLENGE);
        change(&mut saying);
        verify(&stored, passkey.get_saying(&saying)).expect_err("refused")
    };
    let told = |error: AssertionError, expected: Mismatch| match error {
        AssertionError::Mismatch(found) => assert_eq!(found, expected),
        other => panic!("{expected:?}, and not {other:?}"),
    };
    told(
        wrong(&|saying| *saying = Saying::honest(ORIGIN, &[8; 32])),
        Mismatch::Challenge,
    );
    for origin in [
        "http://localhost:8481",
        "https://localhost:8480",
        "http://evil.example",
        "http://localhost:8480/x",
        "http://localhost:8480/",
    ] {
        told(
            wrong(&|saying| saying.client_data["origin"] = json!(origin)),
            Mismatch::Origin,
        );
    }
    told(
        wrong(&|saying| saying.client_data["crossOrigin"] = json!(true)),
        Mismatch::Frame,
    );
    told(
        wrong(&|saying| saying.client_data["topOrigin"] = json!("https://evil.example")),
        Mismatch::Frame,
    );
    told(
        wrong(&|saying| saying.client_data["type"] = json!("webauthn.create")),
        Mismatch::Type,
    );
    for flags in [0, USER_PRESENT, USER_VERIFIED] {
        assert!(matches!(
            wrong(&|saying| saying.flags = flags),
            AssertionError::NotVerified
        ));
    }
    assert!(matches!(
        wrong(&|saying| saying.rp_id = "evil.example".into()),
        AssertionError::NotVerified
    ));
}

#[test]
fn a_signature_by_another_key_or_over_other_bytes_is_refused() {
    let (passkey, other) = (SoftPasskey::new(1), SoftPasskey::new(2));
    let stored = enrolled(&passkey);
    assert!(matches!(
        verify(&stored, other.get(ORIGIN, &CHALLENGE)),
        Err(AssertionError::UnknownPasskey)
    ));
    // The other key under this passkey's name.
    for saying in [Saying::honest(ORIGIN, &CHALLENGE), payment_saying()] {
        let mut forged = other.get_saying(&saying);
        let honest = passkey.get_saying(&saying);
        forged["rawId"] = honest["rawId"].clone();
        assert!(matches!(
            verify(&stored, forged),
            Err(AssertionError::Signature)
        ));
        let mut moved = honest.clone();
        let mut passkey = passkey.clone();
        passkey.counter = 9;
        moved["response"]["authenticatorData"] =
            passkey.get_saying(&saying)["response"]["authenticatorData"].clone();
        assert!(matches!(
            verify(&stored, moved),
            Err(AssertionError::Signature)
        ));
    }
}

#[test]
fn a_counter_that_stays_at_nothing_is_a_synced_passkey_and_one_that_goes_back_is_refused() {
    let mut passkey = SoftPasskey::new(1);
    let mut stored = enrolled(&passkey);
    for _ in 0..2 {
        assert_eq!(
            verify(&stored, passkey.get(ORIGIN, &CHALLENGE))
                .unwrap()
                .counter,
            0
        );
    }
    passkey.counter = 5;
    stored.counter = verify(&stored, passkey.get(ORIGIN, &CHALLENGE))
        .unwrap()
        .counter;
    assert_eq!(stored.counter, 5);
    for went_back in [5, 4, 0] {
        passkey.counter = went_back;
        for saying in [Saying::honest(ORIGIN, &CHALLENGE), payment_saying()] {
            assert!(matches!(
                verify(&stored, passkey.get_saying(&saying)),
                Err(AssertionError::CounterWentBack)
            ));
        }
    }
}

#[test]
fn a_passkey_filed_under_another_customer_is_refused() {
    let passkey = SoftPasskey::new(1);
    let stored = enrolled(&passkey);
    let mut answer = passkey.get(ORIGIN, &CHALLENGE);
    answer["response"]["userHandle"] = json!(URL_SAFE_NO_PAD.encode(user_handle("cus_2")));
    assert!(matches!(
        verify(&stored, answer.clone()),
        Err(AssertionError::OtherUser)
    ));
    answer["response"]["userHandle"] = json!(URL_SAFE_NO_PAD.encode(user_handle(CUSTOMER)));
    assert!(verify(&stored, answer).is_ok());
}

#[test]
fn a_payment_that_the_browser_displayed_must_be_the_one_on_the_card() {
    let passkey = SoftPasskey::new(1);
    let stored = enrolled(&passkey);
    let proof = verify(&stored, passkey.get_saying(&payment_saying())).unwrap();
    assert_eq!(proof.kind, ProofKind::Payment);
    let changes: [(&str, Value); 7] = [
        ("/payment/total/value", json!("21.00")),
        ("/payment/total/currency", json!("GBP")),
        ("/payment/payeeName", json!("Rob Smith")),
        ("/payment/payeeOrigin", json!("https://shop.example")),
        ("/payment/instrument/displayName", json!("Savings ·· 0021")),
        ("/payment/topOrigin", json!("https://shop.example")),
        ("/payment/rpId", json!("shop.example")),
    ];
    for (at, value) in changes {
        let mut saying = payment_saying();
        if at == "/payment/payeeOrigin" {
            saying.client_data["payment"]["payeeOrigin"] = value;
        } else {
            *saying.client_data.pointer_mut(at).unwrap() = value;
        }
        let error = verify(&stored, passkey.get_saying(&saying)).unwrap_err();
        assert!(
            matches!(error, AssertionError::Mismatch(Mismatch::Payment)),
            "{at}: {error:?}"
        );
    }
    // A card that no browser can display has no such prompt.
    let answer: Assertion = serde_json::from_value(passkey.get_saying(&payment_saying())).unwrap();
    assert!(
        page()
            .verify(&CHALLENGE, CUSTOMER, &stored, None, &answer)
            .is_err()
    );
}

#[test]
fn a_passkey_made_elsewhere_or_without_its_owner_is_not_taken() {
    let passkey = SoftPasskey::new(1);
    let take = |saying: &Saying| {
        let answer = serde_json::from_value(passkey.create_saying(saying)).unwrap();
        page().register(&CHALLENGE, &answer)
    };
    let honest = || {
        let mut saying = Saying::honest(ORIGIN, &CHALLENGE);
        saying.client_data["type"] = json!("webauthn.create");
        saying
    };
    assert!(take(&honest()).is_ok());
    let changes: [&dyn Fn(&mut Saying); 5] = [
        &|saying| saying.flags = USER_PRESENT,
        &|saying| saying.rp_id = "evil.example".into(),
        &|saying| saying.client_data["origin"] = json!("http://evil.example"),
        &|saying| saying.client_data["type"] = json!("webauthn.get"),
        &|saying| saying.client_data["challenge"] = json!("AAAA"),
    ];
    for change in changes {
        let mut saying = honest();
        change(&mut saying);
        assert!(take(&saying).is_err(), "{saying:?}");
    }
}

#[test]
fn an_address_with_a_path_is_no_origin() {
    for bad in [
        "localhost:8480",
        "http://localhost:8480/x",
        "http://localhost:8480/",
        "",
    ] {
        assert!(RelyingParty::new(bad).is_err(), "{bad}");
    }
}
