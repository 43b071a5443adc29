//! Models behind a network, against a server on this machine.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tenter::CancellationToken;
use tenter_agent::{
    Agent, Anthropic, ApiKey, Delta, Message, Mode, NetProvider, Network, OpenAi, Provider,
    ProviderError, Request, RulesPolicy, Status, ToolSpec, Who,
};

use crate::server::{Server, Step, stream, whole};
use crate::support::LIMIT;

/// Times that let a test fail soon, and waits that cost nothing.
fn network() -> Network {
    Network {
        answer_timeout: LIMIT,
        idle_timeout: LIMIT,
        retries: 2,
        backoff: Duration::from_millis(1),
        ..Network::default()
    }
}

fn openai(server: &Server) -> NetProvider {
    OpenAi::builder("m").base_url(&server.url).network(network()).build().unwrap()
}

fn request(prompt: &str) -> Request {
    Request {
        agent: Who::main(),
        system: "Be brief.".into(),
        messages: vec![Message::user(prompt)],
        tools: Vec::new(),
        may_call: true,
    }
}

async fn answer(provider: &dyn Provider) -> Vec<Result<Delta, ProviderError>> {
    let deltas = provider.stream(request("hi")).collect::<Vec<_>>();
    tokio::time::timeout(LIMIT, deltas).await.expect("the answer ends in time")
}

fn text(text: &str) -> Delta {
    Delta::Text(text.into())
}

const HELLO: &str = r#"{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}"#;

/// One whole turn: the model calls Bash, is given its result, and has the last word.
async fn works(provider: Arc<dyn Provider>) {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut agent = Agent::builder("s", folder.path(), provider)
        .policy(Arc::new(RulesPolicy::mode_only(Mode::Bypass)))
        .environment([("PATH".into(), path)])
        .start();
    let cancel = CancellationToken::new();
    let turn = agent.turn("What is here?", &cancel);
    let end = tokio::time::timeout(LIMIT, turn).await.expect("the turn ends in time");
    assert_eq!((end.status, end.text.as_str()), (Status::Complete, "It is 42."), "{end:?}");
    let Message::Assistant { text, calls } = &agent.history()[1] else { unreachable!() };
    assert_eq!((text.as_str(), calls[0].name.as_str()), ("I look.", "Bash"));
    assert_eq!(calls[0].input.as_text(), r#"{"command":"echo 42"}"#);
}

#[tokio::test]
async fn a_turn_through_chat_completions() {
    let server = Server::new(vec![
        stream(&[
            r#"{"choices":[{"delta":{"role":"assistant","content":"I "}}]}"#,
            r#"{"choices":[{"delta":{"content":"look."}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"Bash","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"command\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"echo 42\"}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"total_tokens":9}}"#,
            "[DONE]",
        ]),
        stream(&[r#"{"choices":[{"delta":{"content":"It is 42."},"finish_reason":"stop"}]}"#]),
    ])
    .await;
    works(Arc::new(openai(&server))).await;

    let asked = server.asked();
    assert!(asked[0].head.starts_with("post /v1/chat/completions "), "{}", asked[0].head);
    assert!(!asked[0].head.contains("authorization"), "no key, no header");
    let first = &asked[0].body;
    assert_eq!((&first["model"], &first["stream"]), (&json!("m"), &json!(true)));
    assert_eq!(first["messages"][1], json!({ "role": "user", "content": "What is here?" }));
    assert_eq!(first["tools"][0]["function"]["name"], "Bash");
    let second = asked[1].body["messages"].as_array().unwrap();
    assert_eq!(second[2]["tool_calls"][0]["function"]["arguments"], r#"{"command":"echo 42"}"#);
    assert_eq!(
        second[3],
        json!({ "role": "tool", "tool_call_id": "c1", "content": "42\n" }),
        "the result goes back"
    );
}

#[tokio::test]
async fn a_turn_through_messages() {
    let server = Server::new(vec![
        stream(&[
            r#"{"type":"message_start","message":{"id":"m"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I look."}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c.1","name":"Bash","input":{}}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"command\":"}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"echo 42\"}"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
        stream(&[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is 42."}}"#,
            r#"{"type":"message_stop"}"#,
        ]),
    ])
    .await;
    let model = Anthropic::builder("m").base_url(&server.url).api_key(ApiKey::new("sk-1"));
    works(Arc::new(model.network(network()).build().unwrap())).await;

    let asked = server.asked();
    assert!(asked[0].head.starts_with("post /v1/messages "), "{}", asked[0].head);
    assert!(asked[0].head.contains("x-api-key: sk-1"));
    assert!(asked[0].head.contains("anthropic-version: 2023-06-01"));
    assert_eq!(asked[0].body["tools"][0]["name"], "Bash");
    let messages = asked[1].body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(messages[1]["content"][1]["id"], "c_1", "in the signs that are taken");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "c_1");
    assert_eq!(messages[2]["content"][0]["content"], "42\n");
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_nothing_else() {
    let busy = || whole("429 Too Many Requests", "retry-after: 0\r\n", "{}");
    let broken = || whole("503 Service Unavailable", "", "");
    for (answers, ends, asked) in [
        (vec![busy(), broken(), stream(&[HELLO])], Ok("hello"), 3),
        (vec![busy(), busy(), busy()], Err("says 429"), 3),
        (vec![broken(), broken(), broken()], Err("(asked 3 times)"), 3),
        (
            vec![whole("429 Too Many Requests", "retry-after: 3600\r\n", "")],
            Err("left alone for 3600 s"),
            1,
        ),
        (
            vec![whole("400 Bad Request", "", r#"{"error":{"message":"no such tool"}}"#)],
            Err("says 400: no such tool"),
            1,
        ),
        (vec![whole("401 Unauthorized", "", "")], Err("is an API key set"), 1),
        (vec![whole("404 Not Found", "", "nothing here")], Err("nothing here; are the model's"), 1),
        (
            vec![whole("302 Found", "location: http://127.0.0.1:1/\r\n", "")],
            Err("is not followed"),
            1,
        ),
    ] {
        let server = Server::new(answers).await;
        let said = answer(&openai(&server)).await;
        match ends {
            Ok(words) => assert_eq!(said, [Ok(text(words))]),
            Err(part) => {
                let error = said[0].as_ref().unwrap_err().to_string();
                assert!(error.contains(part) && error.contains(&server.url), "{error}");
            }
        }
        assert_eq!(server.asked().len(), asked, "{ends:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Nobody listens there any more.
    drop(listener);
    let model = OpenAi::builder("m").base_url(&url).api_key(ApiKey::new("sk-secret"));
    let said = answer(&model.network(network()).build().unwrap()).await;
    let error = said[0].as_ref().unwrap_err().to_string();
    assert!(error.contains(&url) && error.contains("cannot be reached"), "{error}");
    assert!(error.contains("is it running") && !error.contains("secret"), "{error}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_asked_for_again() {
    let begun = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
    let mut stalls = stream(&[begun]);
    stalls.push(Step::UntilGone);
    for (answers, idle, part) in [
        (stream(&[begun]), LIMIT, "the connection ended before it did"),
        (stalls, Duration::from_millis(50), "nothing came for 50 ms"),
        (stream(&[begun, r#"{"error":{"message":"out of memory"}}"#]), LIMIT, "out of memory"),
        (stream(&[begun, "{nonsense"]), LIMIT, "not JSON"),
    ] {
        let server = Server::new(vec![answers, stream(&[HELLO])]).await;
        let network = Network { idle_timeout: idle, ..network() };
        let model = OpenAi::builder("m").base_url(&server.url).network(network).build().unwrap();
        let said = answer(&model).await;
        assert_eq!(said[0], Ok(text("half")));
        let error = said[1].as_ref().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert_eq!((said.len(), server.asked().len()), (2, 1), "{part}");
    }
}

/// The words that came with the reason for which an answer is not whole are part of it.
#[tokio::test]
async fn what_was_said_before_an_answer_was_cut_off_is_given_out() {
    let cut = r#"{"choices":[{"delta":{"content":"half"},"finish_reason":"length"}]}"#;
    let in_one = r#"{"choices":[{"message":{"content":"half"},"finish_reason":"length"}]}"#;
    for steps in [stream(&[cut]), whole("200 OK", "", in_one)] {
        let server = Server::new(vec![steps]).await;
        let said = answer(&openai(&server)).await;
        assert_eq!((said.len(), &said[0]), (2, &Ok(text("half"))));
        assert!(said[1].as_ref().unwrap_err().message.contains("allow more tokens"));
    }
    let in_one = r#"{"content":[{"type":"text","text":"half"},{"type":"tool_use","id":"c","name":"Bash","input":{}}],"stop_reason":"max_tokens"}"#;
    let server = Server::new(vec![whole("200 OK", "", in_one)]).await;
    let model = Anthropic::builder("m").base_url(&server.url).network(network()).build().unwrap();
    let said = answer(&model).await;
    assert_eq!((said.len(), &said[0]), (2, &Ok(text("half"))), "and no call that may be cut");
    assert!(said[1].as_ref().unwrap_err().message.contains("allow more tokens"));
}

/// Servers quote what they refuse, and a key stands in what they refuse.
#[tokio::test]
async fn a_key_that_a_server_repeats_is_not_shown() {
    let words = r#"{"error":{"message":"incorrect key: sk-secret"}}"#;
    // Its end is where a long text is cut.
    let long = format!("{} sk-secret", "x".repeat(393));
    for steps in [
        whole("401 Unauthorized", "", words),
        whole("400 Bad Request", "", &long),
        whole("200 OK", "", words),
        stream(&[words]),
    ] {
        let server = Server::new(vec![steps.clone(), steps]).await;
        let (url, key) = (&server.url, || ApiKey::new("sk-secret"));
        let openai = OpenAi::builder("m").base_url(url).api_key(key()).network(network());
        let anthropic = Anthropic::builder("m").base_url(url).api_key(key()).network(network());
        let providers: [Box<dyn Provider>; 2] =
            [Box::new(openai.build().unwrap()), Box::new(anthropic.build().unwrap())];
        for provider in providers {
            let error = answer(&*provider).await.pop().unwrap().unwrap_err().message;
            assert!(!error.contains("sk-"), "{}: {error}", provider.name());
        }
    }
    let server = Server::new(vec![whole("401 Unauthorized", "", words)]).await;
    let model = OpenAi::builder("m").base_url(&server.url).api_key(ApiKey::new("sk-secret"));
    let error = model.build().unwrap().models().await.unwrap_err().message;
    assert!(error.contains("incorrect key") && !error.contains("sk-"), "{error}");

    // A server of one's own may take any word as its key; what is said of it stays whole.
    let server = Server::new(vec![whole("404 Not Found", "", "")]).await;
    let model = OpenAi::builder("m").base_url(&server.url).api_key(ApiKey::new("127.0.0.1"));
    let error = answer(&model.build().unwrap()).await[0].clone().unwrap_err().message;
    assert!(error.contains(&server.url), "{error}");
}

#[tokio::test]
async fn a_long_error_inside_a_stream_is_shortened() {
    let words = format!(r#"{{"error":{{"message":"{}"}}}}"#, "é".repeat(100_000));
    let server = Server::new(vec![stream(&[&words])]).await;
    let error = answer(&openai(&server)).await[0].clone().unwrap_err().message;
    assert!(error.contains("the model server failed: éé") && error.len() < 2000, "{}", error.len());
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: Text/HTML; charset=utf-8\r\n\
                connection: close\r\n\r\n<html></html>";
    let server = Server::new(vec![vec![Step::Send(page.into())]]).await;
    let error = answer(&openai(&server)).await[0].clone().unwrap_err().message;
    assert!(error.contains(&server.url) && error.contains("a web page"), "{error}");
}

/// Some servers keep a connection awake with events that hold nothing.
#[tokio::test]
async fn an_empty_event_says_nothing() {
    let server =
        Server::new(vec![stream(&["", HELLO]), stream(&["", r#"{"type":"message_stop"}"#])]);
    let server = server.await;
    assert_eq!(answer(&openai(&server)).await, [Ok(text("hello"))]);
    let model = Anthropic::builder("m").base_url(&server.url).network(network()).build().unwrap();
    assert_eq!(answer(&model).await, []);
}

/// A list without end is not read without end.
#[tokio::test]
async fn a_list_of_models_is_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let mut steps = vec![Step::Send(head.into())];
    steps.extend(vec![Step::Send(" ".repeat(1024 * 1024)); 9]);
    steps.push(Step::UntilGone);
    let server = Server::new(vec![steps]).await;
    let model = openai(&server);
    let list = tokio::time::timeout(LIMIT, model.models()).await;
    let error = list.expect("it is given up in time").unwrap_err().message;
    assert!(error.contains("8 MiB") && error.contains(&server.url), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let silent = || vec![Step::UntilGone];
    let server = Server::new(vec![silent(), silent()]).await;
    let network = Network { answer_timeout: Duration::from_millis(50), retries: 1, ..network() };
    let model = OpenAi::builder("m").base_url(&server.url).network(network).build().unwrap();
    let error = answer(&model).await[0].clone().unwrap_err().to_string();
    assert!(
        error.contains("has not answered in 50 ms") && error.contains("asked 2 times"),
        "{error}"
    );
}

#[tokio::test]
async fn who_no_longer_listens_ends_the_connection() {
    let mut steps = stream(&[r#"{"choices":[{"delta":{"content":"one"}}]}"#]);
    steps.push(Step::UntilGone);
    let server = Server::new(vec![steps]).await;
    let model = openai(&server);
    let mut deltas = model.stream(request("hi"));
    assert_eq!(deltas.next().await, Some(Ok(text("one"))));
    drop(deltas);
    let gone = tokio::time::timeout(LIMIT, server.gone.notified()).await;
    assert!(gone.is_ok(), "the server sees that nobody listens");
}

#[tokio::test]
async fn an_answer_in_one_piece_is_read_too() {
    let body = json!({
        "choices": [{
            "message": {
                "content": "hello",
                "tool_calls": [{ "id": "c", "function": { "name": "Bash", "arguments": "{}" } }],
            },
            "finish_reason": "tool_calls",
        }],
    });
    let server = Server::new(vec![whole("200 OK", "", &body.to_string())]).await;
    let said = answer(&openai(&server)).await;
    assert_eq!(said[0], Ok(text("hello")));
    assert!(matches!(&said[1], Ok(Delta::Call(call)) if call.id == "c" && call.name == "Bash"));

    let body = json!({
        "content": [
            { "type": "text", "text": "hello" },
            { "type": "tool_use", "id": "c", "name": "Bash", "input": { "command": "ls" } },
        ],
        "stop_reason": "tool_use",
    });
    let server = Server::new(vec![whole("200 OK", "", &body.to_string())]).await;
    let model = Anthropic::builder("m").base_url(&server.url).network(network()).build().unwrap();
    let said = answer(&model).await;
    assert_eq!((said.len(), said[0].clone()), (2, Ok(text("hello"))));
    assert!(matches!(&said[1], Ok(Delta::Call(call)) if call.input.as_text().contains("ls")));
}

/// What hooks tell the model stands beside what they tell it about.
#[tokio::test]
async fn context_of_hooks_reaches_the_model_in_both_formats() {
    let call = tenter_agent::ToolCall {
        id: "c".into(),
        name: "Bash".into(),
        input: tenter::Json::string("no object"),
    };
    let result = tenter_agent::ToolResult {
        call_id: "c".into(),
        tool: "Bash".into(),
        content: "out".into(),
        is_error: true,
        context: vec!["mind the gap".into()],
    };
    let user = Message::User { text: "hi".into(), context: vec!["be kind".into()] };
    let assistant = Message::Assistant { text: String::new(), calls: vec![call] };
    let messages = vec![user, assistant, Message::Results(vec![result]), Message::user("go on")];
    let schema = json!({ "type": "object" });
    let tools = vec![ToolSpec { name: "Bash".into(), description: "Runs.".into(), schema }];
    let request = Request { messages, tools, ..request("") };

    let server = Server::new(vec![stream(&[HELLO])]).await;
    let model = openai(&server);
    model.stream(request.clone()).collect::<Vec<_>>().await;
    let body = server.asked()[0].body.clone();
    let content = |at: usize| body["messages"][at]["content"].as_str().unwrap().to_owned();
    assert!(content(1).starts_with("hi\n\n") && content(1).contains("be kind"));
    assert!(content(3).starts_with("out\n\n") && content(3).contains("mind the gap"));

    let server = Server::new(vec![stream(&[r#"{"type":"message_stop"}"#])]).await;
    let model = Anthropic::builder("m").base_url(&server.url).network(network()).build().unwrap();
    model.stream(request.clone()).collect::<Vec<_>>().await;
    let messages = server.asked()[0].body["messages"].clone();
    let kinds = |at: usize| -> Vec<Value> {
        messages[at]["content"].as_array().unwrap().iter().map(|one| one["type"].clone()).collect()
    };
    assert_eq!(kinds(0), ["text", "text"]);
    assert_eq!(kinds(1), ["tool_use"], "an empty text is no block");
    assert!(messages[1]["content"][0]["input"].is_object(), "the interface takes objects alone");
    assert_eq!(kinds(2), ["tool_result", "text", "text"], "results first, then what was said");
    assert_eq!(messages[2]["content"][0]["is_error"], true);
}

/// Who summarises a conversation knows its tools and may call none.
#[tokio::test]
async fn tools_that_must_not_be_called_are_told_in_both_formats() {
    let schema = json!({ "type": "object" });
    let tools = vec![ToolSpec { name: "Bash".into(), description: "Runs.".into(), schema }];
    for may_call in [true, false] {
        let request = Request { tools: tools.clone(), may_call, ..request("hi") };
        let server = Server::new(vec![stream(&[HELLO])]).await;
        openai(&server).stream(request.clone()).collect::<Vec<_>>().await;
        let body = server.asked()[0].body.clone();
        assert_eq!(body["tools"][0]["function"]["name"], "Bash");
        let choice = body.get("tool_choice").cloned();
        assert_eq!(choice, (!may_call).then(|| json!("none")));

        let server = Server::new(vec![stream(&[r#"{"type":"message_stop"}"#])]).await;
        let model =
            Anthropic::builder("m").base_url(&server.url).network(network()).build().unwrap();
        model.stream(request).collect::<Vec<_>>().await;
        let body = server.asked()[0].body.clone();
        assert_eq!(body["tools"][0]["name"], "Bash");
        let choice = body.get("tool_choice").cloned();
        assert_eq!(choice, (!may_call).then(|| json!({ "type": "none" })));
    }
}
