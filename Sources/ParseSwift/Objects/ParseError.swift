public import Foundation

/// The one error this module throws and returns.
///
/// A server's refusal carries the server's code and text. When the server could not be reached the code
/// is ``Code/connectionFailed`` (100) and ``swift`` holds the cause.
public struct ParseError: ParseTypeable, LocalizedError, Hashable {
    /// The kind of error.
    public let code: Code
    /// What happened, in words fit for an alert.
    public let message: String
    /// The number itself when ``code`` is ``Code/other``.
    public let otherCode: Int?
    /// The error underneath, for example a `URLError` or a `DecodingError`.
    public let swift: (any Error)?

    /// Makes an error with a code of the protocol.
    public init(code: Code, message: String) {
        self.init(code: code, message: message, swift: nil)
    }

    /// Makes an error with a number of your own, as cloud code may throw.
    public init(otherCode: Int, message: String) {
        code = .other
        self.message = message
        self.otherCode = otherCode
        swift = nil
    }

    /// Makes an error that keeps its cause.
    public init(code: Code, message: String, swift: (any Error)?) {
        self.code = code
        self.message = message
        otherCode = nil
        self.swift = swift
    }

    /// Compares code, message and number; the cause does not count.
    public static func == (lhs: ParseError, rhs: ParseError) -> Bool {
        lhs.code == rhs.code && lhs.message == rhs.message && lhs.otherCode == rhs.otherCode
    }

    /// Hashes code, message and number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(otherCode)
    }

    /// Code and message in one line, as `localizedDescription` shows them.
    public var errorDescription: String? {
        debugDescription
    }

    /// Code and message in one line.
    public var debugDescription: String {
        guard let otherCode else { return "ParseError code=\(code.rawValue) error=\(message)" }
        return "ParseError code=\(code.rawValue) error=\(message) otherCode=\(otherCode)"
    }

    /// Code and message in one line.
    public var description: String {
        debugDescription
    }

    static let notInitialized = ParseError(
        code: .otherCause,
        message: "Call ParseSwift.initialize(…) before anything else."
    )

    static let cancelled = ParseError(
        code: .otherCause,
        message: "The request was cancelled.",
        swift: CancellationError()
    )

    /// Any error as a `ParseError`; one that already is passes through.
    static func wrapping(_ error: any Error) -> ParseError {
        switch error {
        case let error as ParseError:
            error
        case let error as DecodingError:
            ParseError(code: .otherCause, message: ParseCoding.explain(error), swift: error)
        default:
            ParseError(code: .otherCause, message: String(describing: error), swift: error)
        }
    }
}

extension ParseError: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, error, message
    }

    /// Reads a server's error: `code` with `error` or `message`, each of which may be missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let number = try container.decodeIfPresent(Int.self, forKey: .code)
        let text = try container.decodeIfPresent(String.self, forKey: .error)
        let message = try text ?? container.decodeIfPresent(String.self, forKey: .message)
        guard number != nil || message != nil else {
            throw DecodingError.keyNotFound(
                CodingKeys.code,
                .init(codingPath: decoder.codingPath, debugDescription: "Not an error.")
            )
        }
        self.init(number: number, message: message)
    }

    /// Writes `code` and `error`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(otherCode ?? code.rawValue, forKey: .code)
        try container.encode(message, forKey: .error)
    }

    init(number: Int?, message: String?) {
        let message = message ?? "The server gave no reason."
        guard let number else {
            self.init(code: .otherCause, message: message)
            return
        }
        if let code = Code(rawValue: number), code != .other {
            self.init(code: code, message: message)
        } else {
            self.init(otherCode: number, message: message)
        }
    }
}
