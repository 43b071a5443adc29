//! The signals that end a program, and how it exits for them.

use futures_util::future::select_all;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code of a program that a signal has ended, as a shell gives it.
pub(crate) fn exit_code_of(signal: SignalKind) -> u8 {
    u8::try_from(128 + signal.as_raw_value()).unwrap_or(u8::MAX)
}

/// The signals that end a program, as long as it is asked for them.
pub(crate) struct Signals(Vec<(SignalKind, Signal)>);

impl Signals {
    /// From here on they no longer end the program, if the system lets us listen.
    pub(crate) fn listen() -> Self {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self(kinds.into_iter().filter_map(|kind| Some((kind, signal(kind).ok()?))).collect())
    }

    pub(crate) async fn next(&mut self) -> SignalKind {
        let arrivals = self.0.iter_mut().map(|(kind, signal)| {
            let kind = *kind;
            Box::pin(async move {
                if signal.recv().await.is_none() {
                    std::future::pending::<()>().await;
                }
                kind
            })
        });
        let arrivals: Vec<_> = arrivals.collect();
        if arrivals.is_empty() {
            return std::future::pending().await;
        }
        select_all(arrivals).await.0
    }
}
