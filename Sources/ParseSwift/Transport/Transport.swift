import Locking
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests over one `URLSession`, without Swift concurrency underneath.
///
/// On Linux `URLSession.data(for:)` can end or lock up the process when its task is cancelled, and a
/// `URLCache` mixes up the answers of different users, so neither is used anywhere.
final class Transport: Sendable {
    /// How long things may take.
    struct Limits: Sendable {
        /// Seconds without a byte; whole seconds, at least 1.
        var idle: TimeInterval = 30
        /// Seconds for a whole call, its repetitions included.
        var total: TimeInterval = 60
    }

    let limits: Limits
    private let retry: RetryPolicy
    // Behind a lock because asking an invalidated session for a task ends the process on Linux.
    private let session: Locked<URLSession?>
    private let timers = DispatchQueue(label: "ParseSwift.timers")
    // An `OperationQueue` does not keep its underlying queue alive.
    private let replies = DispatchQueue(label: "ParseSwift.replies")

    init(configuration: ParseConfiguration, limits: Limits) {
        self.limits = limits
        retry = RetryPolicy(attempts: max(1, configuration.maxConnectionAttempts))
        let settings = URLSessionConfiguration.ephemeral
        settings.urlCache = nil
        settings.requestCachePolicy = .reloadIgnoringLocalCacheData
        settings.httpCookieStorage = nil
        settings.httpShouldSetCookies = false
        // Six, the default, let a few slow requests hold up a log-in.
        settings.httpMaximumConnectionsPerHost = 16
        settings.httpAdditionalHeaders = configuration.httpAdditionalHeaders
        // A serial queue of our own always gets a thread, also while every thread of the global queue
        // waits in a synchronous call.
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.underlyingQueue = replies
        session = Locked(
            URLSession(
                configuration: settings,
                delegate: ChallengeDelegate(configuration.authentication),
                delegateQueue: queue
            )
        )
    }

    /// Lets running requests end and accepts no new ones.
    func invalidate() {
        session.withLock { session in
            session?.finishTasksAndInvalidate()
            session = nil
        }
    }

    /// Sends the request, again if the policy says so, and hands over what came back.
    ///
    /// `completion` is called on a queue of the transport, and not at all when the flight ends before.
    func send(
        _ request: URLRequest,
        safeToRepeat: Bool,
        flight: Flight,
        completion:
            @escaping @Sendable (Result<(status: Int, contentType: String?, data: Data), ParseError>) -> Void
    ) {
        flight.limit(
            seconds: limits.total,
            on: timers,
            reason: ParseError(
                code: .connectionFailed,
                message: "The server did not answer within \(Int(limits.total.rounded(.up))) seconds.",
                swift: URLError(.timedOut)
            )
        )
        let giveUp = Date().addingTimeInterval(limits.total)
        attempt(1, request, safeToRepeat, giveUp, flight, completion)
    }

    private func attempt(
        _ number: Int,
        _ request: URLRequest,
        _ safe: Bool,
        _ giveUp: Date,
        _ flight: Flight,
        _ completion:
            @escaping @Sendable (Result<(status: Int, contentType: String?, data: Data), ParseError>) -> Void
    ) {
        guard flight.isFlying else { return }
        let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { [self] data, response, error in
            let data = data ?? Data()
            var delay: TimeInterval?
            let outcome: Result<(status: Int, contentType: String?, data: Data), ParseError>
            if let response = response as? HTTPURLResponse, error == nil {
                delay = retry.delay(
                    before: number + 1,
                    afterStatus: response.statusCode,
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
                    isEmpty: data.isEmpty,
                    safe: safe
                )
                outcome = .success(
                    (response.statusCode, response.value(forHTTPHeaderField: "Content-Type"), data)
                )
            } else {
                let cause = error ?? URLError(.badServerResponse)
                delay = retry.delay(before: number + 1, afterError: cause, safe: safe)
                outcome = .failure(Self.error(cause, request.url))
            }
            if let delay, Date().addingTimeInterval(delay) < giveUp {
                timers.asyncAfter(deadline: .now() + delay) {
                    self.attempt(number + 1, request, safe, giveUp, flight, completion)
                }
            } else {
                completion(outcome)
            }
        }
        guard let task = session.withLock({ $0?.dataTask(with: request, completionHandler: handler) }) else {
            completion(
                .failure(
                    ParseError(
                        code: .otherCause,
                        message: "ParseSwift was initialized anew while the call was made."
                    )
                )
            )
            return
        }
        flight.attach(task)
        task.resume()
    }

    private static func error(_ cause: any Error, _ url: URL?) -> ParseError {
        let host = (url?.host ?? "the server") + (url?.port.map { ":\($0)" } ?? "")
        let reason =
            switch (cause as? URLError)?.code {
            case .cannotConnectToHost?: "nothing answers there"
            case .cannotFindHost?, .dnsLookupFailed?: "there is no host of that name"
            case .timedOut?: "it did not answer in time"
            case .notConnectedToInternet?: "there is no network"
            case .networkConnectionLost?: "the connection broke"
            case .secureConnectionFailed?, .serverCertificateUntrusted?, .serverCertificateHasBadDate?,
                .serverCertificateHasUnknownRoot?:
                "its certificate is not trusted"
            default: cause.localizedDescription
            }
        return ParseError(
            code: .connectionFailed,
            message: "Unable to connect with \(host): \(reason).",
            swift: cause
        )
    }
}

/// Hands authentication challenges to the closure of the configuration.
///
/// The open-source Foundation does not ask a delegate when a task has a completion handler, so on Linux the
/// closure is never called.
private final class ChallengeDelegate: NSObject, URLSessionDelegate, URLSessionTaskDelegate,
    @unchecked Sendable
{
    // SAFETY: the closure is set once and called only on the session's serial delegate queue.
    private let authentication: ParseConfiguration.Authentication?

    init(_ authentication: ParseConfiguration.Authentication?) {
        self.authentication = authentication
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let authentication else { return completionHandler(.performDefaultHandling, nil) }
        authentication(challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let authentication else { return completionHandler(.performDefaultHandling, nil) }
        authentication(challenge, completionHandler)
    }
}
