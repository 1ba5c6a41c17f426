import Cryptography
import FileStorage
import HTTP
import JSON
import Logging
import ParseCore
import ParseREST
import ParseSQLite
import ParseWire
import TestSupport
import Testing

/// The REST API over one app, in process.
final class TestREST: Sendable, AppResolver {
    let app: App
    let files: LocalFileStore
    let folder: TemporaryFolder

    static let masterHash = SHA256.hash("master")

    init(
        keys: AppCredentials? = nil,
        hasFiles: Bool = true,
        _ change: (inout AppOptions) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        var options = AppOptions()
        change(&options)
        files = try LocalFileStore(root: folder.path + "/files")
        let passwords = PasswordHashingPool(threads: 1, algorithm: .argon2id(memoryKiB: 8, passes: 1))
        app = App(
            id: "app",
            credentials: keys
                ?? AppCredentials(
                    masterKeyHash: Self.masterHash,
                    readOnlyMasterKeyHash: SHA256.hash("reader"),
                    maintenanceKeyHash: SHA256.hash("maintenance")
                ),
            options: options,
            storage: try SQLiteAppStorage(path: folder.path + "/app.db"),
            environment: CoreEnvironment(
                now: { Timestamp(milliseconds: 1_700_000_000_000) },
                passwords: passwords,
                logger: .disabled,
                files: hasFiles ? files : nil
            )
        )
    }

    func acquire(id: String) async throws -> App? { id == app.id ? app : nil }
    func release(_ app: App) {}

    struct Reply: Sendable {
        var response: HTTPResponse
        var status: Int { response.status }
        var text: String { String(decoding: response.body, as: UTF8.self) }
        var json: JSONValue? { try? JSONValue.parse(response.body) }
        /// All header lines.
        var lines: String {
            String(decoding: response.preformattedHeaders, as: UTF8.self)
                + response.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        }
    }

    static let appHeader = [("X-Parse-Application-Id", "app")]

    func send(
        _ method: String,
        _ target: String,
        _ headers: [(String, String)] = TestREST.appHeader,
        body: [UInt8] = [],
        from address: String = "127.0.0.1"
    ) async -> Reply {
        let options = app.options
        let service = RESTService(
            apps: self,
            defaults: options,
            optionsByApp: { _ in options },
            logger: .disabled
        )
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: method),
            target: target,
            headers: HTTPHeaders(headers),
            body: body,
            remoteAddress: address
        )
        var response = await service.respond(to: request)
        if let producer = response.producer, request.method != .head {
            while let bytes = try? await producer.next() { response.body += bytes }
        }
        return Reply(response: response)
    }

    func send(
        _ method: String,
        _ target: String,
        _ headers: [(String, String)] = TestREST.appHeader,
        json: JSONValue,
        from address: String = "127.0.0.1"
    ) async -> Reply {
        await send(method, target, headers, body: json.serialized(), from: address)
    }
}
