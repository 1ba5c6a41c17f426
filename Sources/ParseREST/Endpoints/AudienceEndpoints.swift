import HTTP
import JSON
import ParseCore
import ParseWire

/// Audiences of pushes, for the master key (`/push_audiences`).
extension Endpoint {
    private static let className = "_Audience"

    static let findAudiences = Endpoint(.isPlainRead) { request in
        try request.context.requireMaster()
        let options = try request.findOptions
        var reply = try await FindObjects(className: className, options: options).run(in: request.context)
        if let results = reply["results"]?.arrayValue { reply["results"] = .array(results.map(shown)) }
        return RESTReply(reply)
    }

    static let getAudience = Endpoint(.isPlainRead) { request in
        try request.context.requireMaster()
        let selection = try GetOptions.selection(request.readParameters)
        let command = GetObject(className: className, objectID: request.objectID, selection: selection)
        return RESTReply(body: .json(shown(.object(try await command.run(in: request.context)))))
    }

    static let createAudience = Endpoint { request in
        try request.context.requireMaster()
        return RESTReply(
            try await CreateObject(className: className, body: request.body).run(in: request.context)
        )
    }

    static let updateAudience = Endpoint { request in
        try request.context.requireMaster()
        let command = UpdateObject(className: className, objectID: request.objectID, body: request.body)
        return RESTReply(try await command.run(in: request.context))
    }

    static let deleteAudience = Endpoint { request in
        try request.context.requireMaster()
        let command = DeleteObject(className: className, objectID: request.objectID)
        return RESTReply(try await command.run(in: request.context))
    }

    /// A query is stored as text and shown as the object that the text is.
    private static func shown(_ audience: JSONValue) -> JSONValue {
        guard var object = audience.objectValue, let text = object["query"]?.stringValue,
            let query = try? JSONValue.parse(text, limits: RequestLimits.json)
        else { return audience }
        object["query"] = query
        return .object(object)
    }

    /// Receipts of an app store are not looked at.
    static let validatePurchase = Endpoint { request in
        guard request.body["receipt"]?.isTruthy == true, request.body["productIdentifier"]?.isTruthy == true
        else { throw ParseError(.invalidJSON, "missing receipt or productIdentifier") }
        throw ParseError(.commandUnavailable, "This server does not check purchases.")
    }
}
