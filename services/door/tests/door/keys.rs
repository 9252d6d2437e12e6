//! Keys that change while the door runs: nobody notices a rotation, and a revoked key is worth nothing at once.

use std::time::Duration;

use countersign_identity::{
    SESSION_LIFETIME_SECONDS_MAX, VerifyingKeys, generate_key, sign_session, verify_request,
};
use countersign_keys::{
    FolderOfKeys, Jwk, JwkSet, Overlap, Signer, SigningKeySource, init, public_file, read_set,
    revoke, rotate, write_set,
};
use serde_json::json;

use crate::client::{Post, raw};
use crate::server;
use crate::stand::{Keys, claims, config, fresh_directory, now, policy, start_door};

/// A little longer than the second after which everybody has looked.
const LOOK: Duration = Duration::from_millis(2_100);

#[tokio::test]
async fn keys_change_under_a_running_door() {
    let directory = fresh_directory();
    let (session, request) = (directory.join("session"), directory.join("request"));
    let began = now();
    init(&session, "session", began, &[11; 32]).unwrap();
    init(&request, "request", began, &[12; 32]).unwrap();
    let keys = Keys::new();
    // Whoever stands behind the door takes any key of the door's; which one signed is looked at below.
    let verifiers = |folder: &std::path::Path| {
        let set = read_set(&public_file(folder)).unwrap();
        let files = set.keys.iter().map(|key| key.verifying_key_file().unwrap());
        VerifyingKeys::new(files.collect()).unwrap()
    };
    let next = generate_key([13; 32], "request-next")
        .verifying_key_file()
        .unwrap();
    let mut both = read_set(&public_file(&request)).unwrap();
    let first_request_key = both.keys[0].kid.clone();
    both.keys.push(Jwk::new(&next, began, began + 3).unwrap());
    write_set(&public_file(&request), &both).unwrap();
    let server = server::real(verifiers(&request)).await;
    let mut config = config(&keys, &policy(), server.address, &directory);
    config["session_keys"] = json!({"jwks_file": public_file(&session)});
    config["request_key"] = json!({"folder": request});
    let door = start_door(config, directory.clone())
        .await
        .expect("the door starts");

    let signer = |at| {
        let folder = session.clone();
        Signer::open(&SigningKeySource::Folder(FolderOfKeys { folder }), at).unwrap()
    };
    let token = |at: u64| sign_session(&signer(at).key(at).unwrap(), &claims(|_| {})).unwrap();
    let ask = async |token: &str| {
        Post::new(door.address, token)
            .call("echo", "{}")
            .await
            .status
    };
    let old = token(now());
    assert_eq!(ask(&old).await, 200);

    let overlap = Overlap::least(SESSION_LIFETIME_SECONDS_MAX);
    let kid = rotate(&session, "session", overlap, now(), &[14; 32])
        .unwrap()
        .kid;
    tokio::time::sleep(LOOK).await;
    // Past the change on the signer's clock: the new key signs.
    let later = signer(now() + 20);
    let key = later.key(now() + 20).unwrap();
    assert_eq!(key.key_id(), kid);
    let new = sign_session(&key, &claims(|_| {})).unwrap();
    assert_eq!(
        (ask(&old).await, ask(&new).await),
        (200, 200),
        "both count in the overlap"
    );

    // The overlap is over: a token of the old key that is in time by its own claims.
    let mut set = read_set(&public_file(&session)).unwrap();
    set.keys[0].exp = Some(now());
    write_set(&public_file(&session), &set).unwrap();
    tokio::time::sleep(LOOK).await;
    assert_eq!(
        (ask(&old).await, ask(&new).await),
        (401, 200),
        "the old key ended"
    );

    revoke(&session, &kid, now()).unwrap();
    tokio::time::sleep(LOOK).await;
    assert_eq!(
        ask(&new).await,
        401,
        "a revoked key is worth nothing, and a remembered token neither"
    );

    // Of the door's own key: what it signed, who can read which, and that it stops when it may sign no more.
    let head = format!(
        "GET /.well-known/jwks.json HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        door.address
    );
    let jwks = raw(door.address, head.as_bytes()).await;
    let public: JwkSet = serde_json::from_str(&jwks.body).unwrap();
    assert!(
        public.keys.iter().any(|key| key.kid == first_request_key),
        "{}",
        jwks.body
    );
    assert!(!jwks.body.contains("PRIVATE") && !jwks.body.contains("\"d\""));
    let seen = server.behaviour.all().remove(0);
    let token = seen.headers["countersign-request"].to_str().unwrap();
    let own = VerifyingKeys::new(vec![public.keys[0].verifying_key_file().unwrap()]).unwrap();
    let issued_at = seen.claims.issued_at;
    assert!(verify_request(&own, token, issued_at, "POST", "/mcp", &seen.body).is_ok());
    let kid = rotate(&session, "session", overlap, now(), &[15; 32])
        .unwrap()
        .kid;
    tokio::time::sleep(LOOK).await;
    let fresh = sign_session(&signer(now()).key(now()).unwrap(), &claims(|_| {})).unwrap();
    assert!(!kid.is_empty() && ask(&fresh).await == 200);
    revoke(&request, &first_request_key, now()).unwrap();
    tokio::time::sleep(LOOK).await;
    let sent = server.behaviour.seen("tools/call").len();
    let answer = Post::new(door.address, &fresh).call("echo", "{}").await;
    assert!(answer.body.contains("not_signed"), "{answer:?}");
    assert_eq!(
        server.behaviour.seen("tools/call").len(),
        sent,
        "and nothing went on"
    );
}
