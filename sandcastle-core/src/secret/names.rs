//! Which variables look secret, and which of their values are none.
//!
//! A name is read word by word, so that `GITHUB_TOKEN` is secret and `TOKENIZERS_PARALLELISM`, `KEYBOARD` and
//! `GIT_AUTHOR_NAME` are not.

/// Words that make a name secret.
const SECRET_WORDS: &[&str] = &[
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "PRIVATE",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "DSN",
    "JWT",
    "PAT",
    "OTP",
    "SALT",
    "SIGNATURE",
    "WEBHOOK",
];

/// Ends of words that make a name secret, for names whose words are not told apart.
const SECRET_ENDS: &[&str] = &[
    "APIKEY",
    "ACCESSKEY",
    "SECRETKEY",
    "PRIVATEKEY",
    "AUTHKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
];

/// Last words of names that say where or how, and not what.
const PLACES: &[&str] =
    &["URL", "URI", "ENDPOINT", "HOST", "PORT", "FILE", "PATH", "DIR", "SOCK", "TYPE", "MODE", "NAME"];

/// Values that say nothing, in lower case.
const WORDS: &[&str] = &[
    "enabled",
    "disabled",
    "default",
    "required",
    "optional",
    "preferred",
    "undefined",
    "development",
    "production",
    "localhost",
    "keyring",
    "keychain",
    "standard",
    "automatic",
    "bearer",
    "header",
    "cookie",
    "interactive",
];

/// Returns the value of a variable if its name looks secret and the value is not innocent.
pub(super) fn secret_in<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    (looks_secret(name) && !is_innocent(value)).then_some(value)
}

/// Returns the password in the URL that a value is.
pub(super) fn password_in_url(value: &str) -> Option<&str> {
    let (scheme, rest) = value.trim().split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if scheme.is_empty() || !scheme.chars().all(is_scheme) {
        return None;
    }
    // A password that was not escaped may hold a slash; the last `@` is then behind it.
    let (user, _) = rest.rsplit_once('@')?;
    let (user, password) = user.split_once(':')?;
    (!password.is_empty() && !user.contains('/')).then_some(password)
}

fn looks_secret(name: &str) -> bool {
    let words = words(name);
    let has = |word: &str| words.iter().any(|other| other == word);
    let is_secret = |word: &String| {
        SECRET_WORDS.contains(&word.as_str()) || SECRET_ENDS.iter().any(|end| word.ends_with(end))
    };
    // The folder that a shell is in.
    let is_folder = matches!(name, "PWD" | "OLDPWD");
    let is_public = has("PUBLIC") && !has("SECRET") && !has("PRIVATE") && !has("TOKEN");
    let is_place = words.last().is_some_and(|last| PLACES.contains(&last.as_str())) && !has("WEBHOOK");
    words.iter().any(is_secret) && !is_folder && !is_public && !is_place
}

/// Splits `API_KEY`, `api-key` and `apiKey` into words, in upper case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let starts = c.is_uppercase() && was_lower;
        if (!c.is_alphanumeric() || starts) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_uppercase());
        }
        was_lower = c.is_lowercase();
    }
    words
}

fn is_innocent(value: &str) -> bool {
    let value = value.trim();
    let is_number =
        value.len() < 9 && value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let is_path = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    // Keys in Base64 may begin with a slash; they have no second one, or what is no name around it.
    let is_path = is_path && value.split('/').skip(1).any(|part| part.len() < 24) && !value.ends_with('=');
    is_number || is_path || WORDS.contains(&value.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_word_by_word() {
        for secret in [
            "API_KEY",
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "GH_PAT",
            "DB_PASSWORD",
            "MYSQL_PWD",
            "SMTP_PASS",
            "apiKey",
            "api-key",
            "authToken",
            "GITHUBTOKEN",
            "OPENAI_APIKEY",
            "SESSION_COOKIE",
            "SENTRY_DSN",
            "GOOGLE_CREDENTIALS",
            "SSH_PRIVATE_KEY",
            "npm_config__auth",
            "SLACK_WEBHOOK_URL",
            "NPM_AUTH",
            "PGPASSWORD",
        ] {
            assert!(looks_secret(secret), "{secret}");
        }
        for innocent in [
            "KEYBOARD",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "TOKENIZERS_PARALLELISM",
            "PWD",
            "OLDPWD",
            "PATH",
            "MONKEY",
            "HOME",
            "SSH_AUTH_SOCK",
            "PUBLIC_KEY",
            "TOKEN_URL",
            "COMPASS",
            "PATTERN",
            "BYPASS",
            "LANG",
            "AUTHORITY",
            "",
        ] {
            assert!(!looks_secret(innocent), "{innocent}");
        }
    }

    #[test]
    fn values_that_say_nothing_are_no_secrets() {
        for value in ["128000", "default", "Enabled", "/run/user/1000/keyring", "~/.config/key.json", "0.25"]
        {
            assert_eq!(secret_in("API_KEY", value), None, "{value}");
        }
        for value in ["s3cret", "123456789", "/9j4AAQSkZJRgABAQEASABIAAD2wBDAAM=", "correct horse", "sk-1/2"]
        {
            assert_eq!(secret_in("API_KEY", value), Some(value));
        }
    }

    #[test]
    fn passwords_are_found_in_urls() {
        assert_eq!(password_in_url("postgres://app:hunter22@db:5432/x"), Some("hunter22"));
        assert_eq!(password_in_url("redis://:hunter22@db"), Some("hunter22"));
        assert_eq!(password_in_url("postgres://app:p@ss/w0rd@db/x"), Some("p@ss/w0rd"));
        for url in
            ["https://example.com/a:b@c", "https://user@example.com", "not a url", "a b://u:p@h", "://u:p@h"]
        {
            assert_eq!(password_in_url(url), None, "{url}");
        }
    }
}
