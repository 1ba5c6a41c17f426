import JSON
import ParseWire

extension ParseError {
    /// A pipeline that means nothing here; the text names the part.
    static func aggregate(_ message: String) -> ParseError {
        ParseError(.invalidQuery, message)
    }

    static func unsupportedStage(_ name: String) -> ParseError {
        aggregate("The aggregate stage \(name) is not supported.")
    }

    static func unsupportedExpression(_ name: String) -> ParseError {
        aggregate("The aggregate expression \(name) is not supported.")
    }
}
