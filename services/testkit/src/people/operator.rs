//! An operator at the dashboard, as their browser would be.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context as _;
use reqwest::{Client, RequestBuilder, StatusCode, header};

/// A page as it was answered.
#[derive(Debug)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// Where it leads, when it leads elsewhere.
    pub location: String,
    /// The page's HTML.
    pub html: String,
}

/// An operator with the dashboard open, signed in or not.
#[derive(Debug)]
pub struct Operator {
    http: Client,
    origin: String,
    cookie: Option<String>,
}

impl Operator {
    /// Opens the dashboard without signing in.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn at(origin: &str, port: u16) -> anyhow::Result<Self> {
        let host = origin
            .trim_start_matches("http://")
            .rsplit_once(':')
            .context("an origin with a port")?
            .0;
        let http = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .resolve(host, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .build()?;
        Ok(Self {
            http,
            origin: origin.to_owned(),
            cookie: None,
        })
    }

    /// Signs in with a one-use token. Answers whether it was good.
    ///
    /// # Errors
    /// When the dashboard does not answer.
    pub async fn signs_in(&mut self, token: &str) -> anyhow::Result<bool> {
        let body = serde_json::json!({"token": token});
        let answer = self.post("/login").json(&body).send().await?;
        if answer.status() != StatusCode::NO_CONTENT {
            return Ok(false);
        }
        let cookie = answer
            .headers()
            .get(header::SET_COOKIE)
            .context("a cookie")?;
        self.cookie = cookie.to_str()?.split(';').next().map(str::to_owned);
        Ok(true)
    }

    /// Opens a page.
    ///
    /// # Errors
    /// When the dashboard does not answer.
    pub async fn opens(&self, path: &str) -> anyhow::Result<Page> {
        read(self.with_cookie(self.http.get(format!("{}{path}", self.origin)))).await
    }

    /// Sends a form.
    ///
    /// # Errors
    /// When the dashboard does not answer.
    pub async fn submits(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Page> {
        let body = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect::<Vec<_>>()
            .join("&");
        let request = self
            .post(path)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        read(request).await
    }

    fn post(&self, path: &str) -> RequestBuilder {
        let request = self
            .http
            .post(format!("{}{path}", self.origin))
            .header(header::ORIGIN, &self.origin);
        self.with_cookie(request)
    }

    fn with_cookie(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.cookie {
            Some(cookie) => request.header(header::COOKIE, cookie),
            None => request,
        }
    }
}

async fn read(request: RequestBuilder) -> anyhow::Result<Page> {
    let answer = request.send().await?;
    let location = answer.headers().get(header::LOCATION);
    Ok(Page {
        status: answer.status().as_u16(),
        location: location
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
        html: answer.text().await?,
    })
}

fn encoded(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
