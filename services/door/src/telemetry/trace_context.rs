//! Where a call belongs in somebody's trace: W3C Trace Context, as a header or a member of `_meta`.

use countersign_wire::Frame;
use http::HeaderMap;

/// The header, and the member of `_meta`, that names the caller's span.
const TRACEPARENT: &str = "traceparent";

/// The span that a message was sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The trace.
    pub trace: [u8; 16],
    /// The span in it.
    pub span: [u8; 8],
    /// Whether whoever began the trace wants it told.
    pub is_sampled: bool,
}

impl Parent {
    /// Reads the one header of a request.
    pub fn of_headers(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(TRACEPARENT).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Self::read(value.to_str().ok()?),
            _ => None,
        }
    }

    /// Reads the member of a message's `_meta`.
    pub fn of_message(frame: &Frame<'_>) -> Option<Self> {
        let meta = frame.params()?.get("_meta")?;
        Self::read(&meta.get(TRACEPARENT)?.as_str()?)
    }

    /// Reads `VERSION-TRACE-SPAN-FLAGS` in lower-case hexadecimal (W3C Trace Context, section 3.2).
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Later versions may say more behind this; version 00 says nothing more.
        let is_known = version != "ff" && (version != "00" || parts.next().is_none());
        let plain = |text: &str| !text.bytes().any(|byte| byte.is_ascii_uppercase());
        if !is_known || !plain(text) {
            return None;
        }
        hex::decode_to_slice(version, &mut [0; 1]).ok()?;
        let mut read = Self {
            trace: [0; 16],
            span: [0; 8],
            is_sampled: false,
        };
        let mut bits = [0; 1];
        hex::decode_to_slice(trace, &mut read.trace).ok()?;
        hex::decode_to_slice(span, &mut read.span).ok()?;
        hex::decode_to_slice(flags, &mut bits).ok()?;
        read.is_sampled = bits[0] & 1 == 1;
        (read.trace != [0; 16] && read.span != [0; 8]).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_exactly_or_not_at_all() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent = Parent::read(good).unwrap();
        assert_eq!(hex::encode(parent.span), "00f067aa0ba902b7");
        assert!(parent.is_sampled);
        assert!(
            !Parent::read(&good.replace("-01", "-00"))
                .unwrap()
                .is_sampled
        );
        assert!(Parent::read(&format!("{}-more", good.replacen("00-", "01-", 1))).is_some());
        for bad in [
            "",
            "00",
            &good.to_uppercase(),
            &good[..good.len() - 1],
            &format!("{good}-more"),
            &good.replacen("00-", "ff-", 1),
            &good.replacen("00-", "zz-", 1),
            &good.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &good.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &good.replace("-01", "-0g"),
        ] {
            assert_eq!(Parent::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn two_headers_are_none() {
        let mut headers = HeaderMap::new();
        let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        headers.append("traceparent", value.parse().unwrap());
        assert!(Parent::of_headers(&headers).is_some());
        headers.append("traceparent", value.parse().unwrap());
        assert!(Parent::of_headers(&headers).is_none());
    }

    #[test]
    fn a_message_says_it_beside_its_arguments() {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}"#;
        let frame = Frame::read(message.as_bytes()).unwrap();
        assert!(Parent::of_message(&frame).is_some());
    }
}
