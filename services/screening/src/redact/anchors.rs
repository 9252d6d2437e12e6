//! Secrets that begin with a mark of their issuer: the marks, and what has to follow them.
//!
//! The marks are public: each issuer documents them so that scanners can find leaked keys.

use std::ops::Range;

use super::rules::BuiltIn::{
    self, ChatToken, CloudKey, ForgeToken, ModelKey, PaymentKey, ServiceKey,
};

/// Characters a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits.
    Upper,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Letters, digits, `-` and `_`.
    Word,
    /// Letters, digits, `-`, `_` and `$`.
    Parts,
    /// Letters, digits, `-`, `_`, `.` and `~`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, `-`, `_` and `%`.
    Base64,
    /// What an address's path is made of.
    Path,
}

impl Set {
    pub const fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Parts => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'$'),
            Self::Dotted => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')
            }
            Self::Base64 => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'%')
            }
            Self::Path => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'@' | b'~' | b'%')
            }
        }
    }
}

/// A mark and what has to follow it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub mark: &'static str,
    pub rule: BuiltIn,
    set: Set,
    /// Shortest body, in characters.
    min: usize,
    /// The mark is short or an ordinary syllable: nothing of a word may stand in front, and the body must
    /// mix letters and digits.
    weak: bool,
}

const fn strong(mark: &'static str, rule: BuiltIn, set: Set, min: usize) -> Anchor {
    Anchor {
        mark,
        rule,
        set,
        min,
        weak: false,
    }
}

const fn weak(mark: &'static str, rule: BuiltIn, set: Set, min: usize) -> Anchor {
    Anchor {
        mark,
        rule,
        set,
        min,
        weak: true,
    }
}

/// Marks whose body alone decides.
pub(super) const ANCHORS: &[Anchor] = &[
    strong("AKIA", CloudKey, Set::Upper, 16),
    strong("ASIA", CloudKey, Set::Upper, 16),
    strong("ABIA", CloudKey, Set::Upper, 16),
    strong("ACCA", CloudKey, Set::Upper, 16),
    strong("ABSKQmVkcm9ja0", CloudKey, Set::Base64, 20),
    strong("IQoJb3JpZ2lu", CloudKey, Set::Base64, 60),
    strong("FwoGZXIvYXdz", CloudKey, Set::Base64, 60),
    strong("AIza", CloudKey, Set::Word, 30),
    strong("GOCSPX-", CloudKey, Set::Word, 20),
    weak("ya29.", CloudKey, Set::Word, 20),
    strong("AccountKey=", CloudKey, Set::Base64, 40),
    strong("SharedAccessKey=", CloudKey, Set::Base64, 40),
    strong("SharedAccessSignature=", CloudKey, Set::Base64, 20),
    // The signature of a shared address: with it goes what it gives access to.
    strong("&sig=", CloudKey, Set::Base64, 40),
    strong("?sig=", CloudKey, Set::Base64, 40),
    strong("X-Amz-Signature=", CloudKey, Set::Hex, 60),
    strong("X-Goog-Signature=", CloudKey, Set::Hex, 60),
    weak("1//0", CloudKey, Set::Word, 40),
    weak("LTAI", CloudKey, Set::Alnum, 12),
    strong("dop_v1_", CloudKey, Set::Alnum, 40),
    strong("doo_v1_", CloudKey, Set::Alnum, 40),
    strong("dor_v1_", CloudKey, Set::Alnum, 40),
    strong("HRKU-", CloudKey, Set::Word, 30),
    strong("hvs.", CloudKey, Set::Word, 20),
    strong("hvb.", CloudKey, Set::Word, 20),
    weak("dapi", CloudKey, Set::Hex, 32),
    strong("FlyV1 fm", CloudKey, Set::Base64, 40),
    strong("pul-", CloudKey, Set::Hex, 40),
    strong("nfp_", CloudKey, Set::Alnum, 30),
    strong("sbp_", CloudKey, Set::Hex, 40),
    strong("sb_secret_", CloudKey, Set::Word, 20),
    strong("pscale_tkn_", CloudKey, Set::Dotted, 30),
    strong("pscale_pw_", CloudKey, Set::Dotted, 30),
    strong("tskey-", CloudKey, Set::Word, 20),
    strong("ghp_", ForgeToken, Set::Alnum, 16),
    strong("gho_", ForgeToken, Set::Alnum, 16),
    strong("ghu_", ForgeToken, Set::Alnum, 16),
    strong("ghs_", ForgeToken, Set::Word, 16),
    strong("ghr_", ForgeToken, Set::Alnum, 16),
    strong("github_pat_", ForgeToken, Set::Word, 20),
    strong("glpat-", ForgeToken, Set::Dotted, 16),
    strong("gldt-", ForgeToken, Set::Word, 16),
    strong("glrt-", ForgeToken, Set::Dotted, 16),
    strong("glptt-", ForgeToken, Set::Word, 16),
    strong("glft-", ForgeToken, Set::Word, 16),
    strong("glsoat-", ForgeToken, Set::Word, 16),
    strong("glcbt-", ForgeToken, Set::Word, 16),
    strong("glimt-", ForgeToken, Set::Word, 16),
    strong("glagent-", ForgeToken, Set::Word, 16),
    strong("gloas-", ForgeToken, Set::Word, 16),
    strong("ATBB", ForgeToken, Set::Alnum, 28),
    strong("ATATT3x", ForgeToken, Set::Base64, 40),
    strong("ATCTT3x", ForgeToken, Set::Base64, 40),
    strong("npm_", ForgeToken, Set::Alnum, 30),
    strong("pypi-", ForgeToken, Set::Word, 40),
    strong("rubygems_", ForgeToken, Set::Hex, 40),
    strong("dckr_pat_", ForgeToken, Set::Word, 16),
    strong("dckr_oat_", ForgeToken, Set::Word, 16),
    strong("AKCp", ForgeToken, Set::Alnum, 60),
    weak("oy2", ForgeToken, Set::Alnum, 40),
    weak("cio", ForgeToken, Set::Alnum, 32),
    strong("lin_api_", ForgeToken, Set::Alnum, 30),
    strong("xoxb-", ChatToken, Set::Word, 10),
    strong("xoxp-", ChatToken, Set::Word, 10),
    strong("xoxa-", ChatToken, Set::Word, 10),
    strong("xoxr-", ChatToken, Set::Word, 10),
    strong("xoxs-", ChatToken, Set::Word, 10),
    strong("xoxo-", ChatToken, Set::Word, 20),
    strong("xoxe-", ChatToken, Set::Word, 10),
    strong("xoxe.", ChatToken, Set::Dotted, 20),
    strong("xoxc-", ChatToken, Set::Word, 10),
    strong("xoxd-", ChatToken, Set::Base64, 10),
    strong("xapp-", ChatToken, Set::Word, 20),
    strong("hooks.slack.com/services/", ChatToken, Set::Path, 20),
    strong("hooks.slack.com/workflows/", ChatToken, Set::Path, 20),
    strong("discord.com/api/webhooks/", ChatToken, Set::Path, 30),
    strong("discordapp.com/api/webhooks/", ChatToken, Set::Path, 30),
    strong("webhook.office.com/webhookb2/", ChatToken, Set::Path, 30),
    strong("sk_live_", PaymentKey, Set::Word, 10),
    strong("sk_test_", PaymentKey, Set::Word, 10),
    strong("rk_live_", PaymentKey, Set::Word, 10),
    strong("rk_test_", PaymentKey, Set::Word, 10),
    strong("sk_org_", PaymentKey, Set::Word, 20),
    strong("sk_sbox_", PaymentKey, Set::Word, 16),
    strong("whsec_", PaymentKey, Set::Base64, 16),
    strong("sq0atp-", PaymentKey, Set::Word, 20),
    strong("sq0csp-", PaymentKey, Set::Word, 20),
    weak("EAAA", PaymentKey, Set::Word, 50),
    strong("access_token$production$", PaymentKey, Set::Parts, 30),
    strong("access_token$sandbox$", PaymentKey, Set::Parts, 30),
    strong("access-production-", PaymentKey, Set::Word, 30),
    strong("access-sandbox-", PaymentKey, Set::Word, 30),
    strong("FLWSECK-", PaymentKey, Set::Word, 16),
    strong("FLWSECK_TEST-", PaymentKey, Set::Word, 16),
    strong("rzp_live_", PaymentKey, Set::Alnum, 14),
    strong("rzp_test_", PaymentKey, Set::Alnum, 14),
    weak("AQE", PaymentKey, Set::Word, 80),
    weak("live_", PaymentKey, Set::Word, 30),
    weak("test_", PaymentKey, Set::Alnum, 30),
    strong("sk-ant-", ModelKey, Set::Word, 16),
    strong("sk-proj-", ModelKey, Set::Word, 16),
    strong("sk-svcacct-", ModelKey, Set::Word, 16),
    strong("sk-admin-", ModelKey, Set::Word, 16),
    strong("sk-or-v1-", ModelKey, Set::Word, 16),
    weak("sk-", ModelKey, Set::Word, 20),
    strong("hf_", ModelKey, Set::Alnum, 34),
    strong("api_org_", ModelKey, Set::Alnum, 30),
    weak("r8_", ModelKey, Set::Alnum, 30),
    weak("gsk_", ModelKey, Set::Alnum, 30),
    strong("pplx-", ModelKey, Set::Alnum, 30),
    strong("xai-", ModelKey, Set::Alnum, 40),
    strong("nvapi-", ModelKey, Set::Word, 40),
    strong("tgp_v1_", ModelKey, Set::Word, 30),
    weak("csk-", ModelKey, Set::Alnum, 40),
    weak("fw_", ModelKey, Set::Alnum, 20),
    weak("sk_", ModelKey, Set::Hex, 40),
    strong("lsv2_pt_", ModelKey, Set::Word, 30),
    strong("lsv2_sk_", ModelKey, Set::Word, 30),
    strong("pcsk_", ModelKey, Set::Word, 40),
    strong("tvly-", ModelKey, Set::Word, 20),
    strong("AGE-SECRET-KEY-1", BuiltIn::PrivateKey, Set::Upper, 50),
    strong("SG.", ServiceKey, Set::Dotted, 60),
    weak("key-", ServiceKey, Set::Hex, 32),
    weak("SK", ServiceKey, Set::Hex, 32),
    strong("CFPAT-", ServiceKey, Set::Word, 40),
    strong("pat-na1-", ServiceKey, Set::Word, 30),
    strong("pat-eu1-", ServiceKey, Set::Word, 30),
    weak("re_", ServiceKey, Set::Word, 24),
    strong("EAACEdEose0cBA", ServiceKey, Set::Alnum, 20),
    strong("shpat_", ServiceKey, Set::Hex, 30),
    strong("shpss_", ServiceKey, Set::Hex, 30),
    strong("shpca_", ServiceKey, Set::Hex, 30),
    strong("shppa_", ServiceKey, Set::Hex, 30),
    strong("ntn_", ServiceKey, Set::Alnum, 40),
    weak("secret_", ServiceKey, Set::Alnum, 40),
    strong("figd_", ServiceKey, Set::Word, 30),
    strong("PMAK-", ServiceKey, Set::Word, 40),
    strong("sntrys_", ServiceKey, Set::Base64, 40),
    strong("sntryu_", ServiceKey, Set::Base64, 40),
    strong("NRAK-", ServiceKey, Set::Upper, 20),
    strong("glsa_", ServiceKey, Set::Word, 30),
    strong("glc_", ServiceKey, Set::Base64, 40),
    strong("dt0c01.", ServiceKey, Set::Dotted, 60),
    strong("dp.pt.", ServiceKey, Set::Alnum, 40),
    strong("dp.st.", ServiceKey, Set::Dotted, 40),
    strong("xkeysib-", ServiceKey, Set::Word, 60),
    strong("phx_", ServiceKey, Set::Alnum, 40),
    strong("EZAK", ServiceKey, Set::Alnum, 50),
    strong("PRIVATE-TOKEN: ", ForgeToken, Set::Word, 16),
];

impl Anchor {
    /// The secret that begins with the mark found at a span.
    pub fn secret(&self, text: &[u8], mark: Range<usize>) -> Option<Range<usize>> {
        if self.weak && mark.start > 0 {
            let before = text[mark.start - 1];
            if before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-') {
                return None;
            }
        }
        let rest = &text[mark.end..];
        let mut length = rest.iter().take_while(|byte| self.set.has(**byte)).count();
        while length > 0 && matches!(rest[length - 1], b'.' | b'%' | b'~') {
            length -= 1;
        }
        if length < self.min {
            return None;
        }
        let body = &rest[..length];
        if self.weak && !is_mixed(body) {
            return None;
        }
        // A weak mark with a fixed alphabet ends where its body ends, not inside a longer word.
        if self.weak
            && matches!(self.set, Set::Hex)
            && rest.get(length).is_some_and(u8::is_ascii_alphanumeric)
        {
            return None;
        }
        Some(mark.start..mark.end + length)
    }
}

/// Letters and digits, with a stretch of them long enough to be no word of a sentence.
fn is_mixed(body: &[u8]) -> bool {
    const STRETCH_MIN: usize = 12;
    let longest = body
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|part| {
            part.iter().any(u8::is_ascii_digit) && part.iter().any(u8::is_ascii_alphabetic)
        })
        .map(<[u8]>::len)
        .max();
    longest.is_some_and(|longest| longest >= STRETCH_MIN)
}
