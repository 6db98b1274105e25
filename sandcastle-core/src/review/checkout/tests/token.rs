//! A token goes to the remote that it is for, alone, and is seen nowhere.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use super::place::Place;
use crate::forge::HeadOrigin;
use crate::review::{Checkout, CheckoutOptions};

const TOKEN: &str = "ghs_correct-horse";

/// Begins to serve, and returns the port, and what each request has in its `Authorization` headers.
fn server(answer: String) -> (u16, Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let is_authorization = |line: &&String| line.to_ascii_lowercase().starts_with("authorization:");
            if sender.send(head.iter().filter(is_authorization).cloned().collect()).is_err() {
                return;
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, requests)
}

fn answer(status: &str, header: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n")
}

/// Opens a pull request of a remote at an address, and returns what is said of the failure.
async fn opened(place: &Place, address: &str, options: CheckoutOptions) -> String {
    place.git(&["remote", "set-url", "origin", address]).await;
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    let error = Checkout::open(&pull_request, &options).await.unwrap_err();
    format!("{error:#} {error:?} {error:#?}")
}

#[tokio::test]
async fn a_token_is_sent_once_in_the_place_of_other_headers() {
    let place = Place::new().await;
    let (port, requests) = server(answer("403 Forbidden", ""));
    let address = format!("http://127.0.0.1:{port}/owner/repo.git");
    let key = format!("http.http://127.0.0.1:{port}/.extraheader");
    place.git(&["config", &key, "Authorization: Basic of-the-repository"]).await;
    place
        .git(&["config", &format!("http.{address}.extraheader"), "Authorization: Basic of-the-address"])
        .await;
    let said = opened(&place, &address, place.options().token(TOKEN)).await;
    // `x-access-token:ghs_correct-horse`
    let expected = "Authorization: Basic eC1hY2Nlc3MtdG9rZW46Z2hzX2NvcnJlY3QtaG9yc2U=";
    assert_eq!(requests.recv().unwrap(), [expected]);
    assert!(!said.contains(TOKEN) && !said.contains("eC1hY2Nl") && said.contains("403"), "{said}");
    assert!(!format!("{:?}", place.options().token(TOKEN)).contains(TOKEN));
}

#[tokio::test]
async fn a_token_does_not_go_to_where_the_address_leads_on() {
    let place = Place::new().await;
    let (other, requests_there) = server(answer("403 Forbidden", ""));
    let location =
        format!("Location: http://127.0.0.1:{other}/owner/repo.git/info/refs?service=git-upload-pack\r\n");
    let (port, requests) = server(answer("302 Found", &location));
    opened(&place, &format!("http://127.0.0.1:{port}/owner/repo.git"), place.options().token(TOKEN)).await;
    assert_eq!(requests.recv().unwrap().len(), 1);
    assert!(requests_there.try_recv().is_err());
}

#[tokio::test]
async fn the_header_of_a_build_server_is_used_wherever_it_is_written() {
    let place = Place::new().await;
    let (port, requests) = server(answer("403 Forbidden", ""));
    let address = format!("http://127.0.0.1:{port}/owner/repo.git");
    let header = format!("[http \"http://127.0.0.1:{port}/\"]\n\textraheader = AUTHORIZATION: basic b64\n");
    let included = place.out("credentials.config");
    std::fs::write(&included, header).unwrap();
    let folder = place.here().canonicalize().unwrap().join(".git");
    let condition = format!("includeIf.gitdir:{}.path", folder.display());
    place.git(&["config", &condition, included.to_str().unwrap()]).await;
    opened(&place, &address, place.options()).await;
    assert_eq!(requests.recv().unwrap(), ["AUTHORIZATION: basic b64"]);
}

#[tokio::test]
async fn a_push_is_opened_by_the_token_too() {
    let place = Place::new().await;
    let (port, requests) = server(answer("403 Forbidden", ""));
    let address = format!("http://127.0.0.1:{port}/owner/repo.git");
    place.git(&["config", "remote.origin.pushurl", &address]).await;
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    let checkout = Checkout::open(&pull_request, &place.options().token(TOKEN)).await.unwrap();
    assert!(requests.try_recv().is_err(), "it is fetched from elsewhere");
    place.git(&["switch", "--quiet", "feature"]).await;
    place.commits("agent.txt", "agent\n").await;
    let error = checkout.push().await.unwrap_err();
    assert_eq!(requests.recv().unwrap().len(), 1);
    let said = format!("{error:#} {checkout:?}");
    assert!(!said.contains(TOKEN) && !said.contains("eC1hY2Nl") && said.contains("403"), "{said}");
}
