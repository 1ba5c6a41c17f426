import Foundation
import TestSupport

@testable import ParseSwift

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A running `martlet` and a freshly initialised SDK that talks to it.
struct RealServer {
    static let masterKey = "master"

    let process: ServerProcess
    let store = RecordingStore()
    private let folder: TemporaryFolder

    init(_ arguments: [String] = []) async throws {
        folder = try TemporaryFolder()
        process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: ["--app-id", "app", "--client-key", "client", "--master-key", Self.masterKey]
                + arguments
        )
        start()
    }

    /// Initialises the SDK on the same store, as a new start of the app would.
    func start() {
        ParseSwift.initialize(
            applicationId: "app",
            clientKey: "client",
            masterKey: Self.masterKey,
            serverURL: url,
            keyValueStore: AppStore(recording: store)
        )
    }

    var url: URL {
        guard let url = URL(string: "http://127.0.0.1:\(process.port)/parse") else {
            preconditionFailure("the address of the test server is no URL")
        }
        return url
    }

    /// Asks the server directly, past the SDK.
    func get(_ path: String, token: String? = nil, master: Bool = false) async throws -> (
        status: Int, body: Data
    ) {
        try await send("GET", path, token: token, master: master)
    }

    /// Sends a request without a body, past the SDK.
    func send(
        _ method: String,
        _ path: String,
        token: String? = nil,
        master: Bool = false
    ) async throws -> (status: Int, body: Data) {
        var request = URLRequest(url: url.appendingPathComponent(path))
        request.httpMethod = method
        request.setValue("app", forHTTPHeaderField: "X-Parse-Application-Id")
        request.setValue("client", forHTTPHeaderField: "X-Parse-Client-Key")
        request.setValue(token, forHTTPHeaderField: "X-Parse-Session-Token")
        if master { request.setValue(Self.masterKey, forHTTPHeaderField: "X-Parse-Master-Key") }
        let (data, response) = try await Self.session.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }

    /// How many rows of `_Session` there are.
    func sessionCount() async throws -> Int {
        struct Rows: Decodable {
            struct Row: Decodable {}
            let results: [Row]
        }
        let reply = try await get("sessions", master: true)
        return try JSONDecoder().decode(Rows.self, from: reply.body).results.count
    }

    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return URLSession(configuration: configuration)
    }()
}
