import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Glibc)
    import Glibc
#endif

@testable import ParseSwift

/// The three forms of a call.
enum Form: CaseIterable, Sendable {
    case blocking
    case completion
    case asynchronous
}

extension Form {
    /// Runs a call in this form.
    func run<Value: Sendable>(
        blocking: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (@escaping @Sendable (Result<Value, ParseError>) -> Void) -> Void,
        asynchronous: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, ParseError> {
        switch self {
        case .blocking:
            do { return .success(try onThread(blocking)) } catch { return .failure(.wrapping(error)) }
        case .completion:
            return await withCheckedContinuation { continuation in
                completion { continuation.resume(returning: $0) }
            }
        case .asynchronous:
            do { return .success(try await asynchronous()) } catch { return .failure(.wrapping(error)) }
        }
    }

    private func onThread<Value>(_ body: () throws -> Value) throws -> Value { try body() }
}

extension User {
    static func logout(_ form: Form) async -> Result<Void, ParseError> {
        await form.run(
            blocking: { try User.logout() },
            completion: { User.logout(completion: $0) },
            asynchronous: { try await User.logout() }
        )
    }

    static func login(_ form: Form) async -> Result<User, ParseError> {
        await form.run(
            blocking: { try User.login(username: "ann", password: "secret") },
            completion: { User.login(username: "ann", password: "secret", completion: $0) },
            asynchronous: { try await User.login(username: "ann", password: "secret") }
        )
    }
}

extension Result where Failure == ParseError {
    var error: ParseError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

/// A port of the loopback at which nothing listens.
///
/// It is taken for as long as the tests run, so that no server of another test gets it meanwhile.
func closedPort() throws -> URL {
    let server = try MockServer()
    let url = server.url
    server.stop()
    guard let port = url.port else { throw URLError(.badURL) }
    #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard result == 0 else { throw URLError(.cannotConnectToHost) }
    return url
}
