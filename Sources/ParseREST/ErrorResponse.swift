import JSON
import ParseCore
import ParseWire

/// How errors look in REST (Parse REST guide, "Response Format").
enum ErrorResponse {
    /// What the client is told of a fault of the server.
    private static let internalMessage = "Internal server error."

    /// Status and body.
    static func make(_ error: ParseError) -> (status: Int, body: JSONObject) {
        (status(of: error), body(of: error))
    }

    /// A fault of the server: under `message` as parse-server has it, and under `error`, where SDKs look.
    static let internalFault: (status: Int, body: JSONObject) = (
        500, ["code": 1, "message": .string(internalMessage), "error": .string(internalMessage)]
    )

    /// The same as an entry of a batch.
    static func batchEntry(_ error: ParseError?) -> JSONObject {
        error.map(body) ?? ["code": 1, "error": .string(internalMessage)]
    }

    private static func status(of error: ParseError) -> Int {
        if let status = error.httpStatus { return status }
        switch error.code {
        case .internalServerError: return 500
        case .objectNotFound: return 404
        default: return 400
        }
    }

    private static func body(of error: ParseError) -> JSONObject {
        var object = JSONObject()
        if let code = error.code { object.append("code", .number(Double(code.rawValue))) }
        if let message = error.message { object.append("error", .string(message)) }
        return object
    }
}
