import Foundation

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
func closedPort() throws -> URL {
    let server = try MockServer()
    server.stop()
    return server.url
}
