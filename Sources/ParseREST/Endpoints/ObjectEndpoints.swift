import HTTP
import JSON
import ParseCore

extension Endpoint {
    /// The endpoints of one class; `nil` for those that name it in the address.
    static func findObjects(_ className: String? = nil) -> Endpoint {
        Endpoint(.isPlainRead) { request in
            let options = try request.findOptions
            let command = FindObjects(className: className ?? request.className, options: options)
            return RESTReply(body: .encoded(try await command.encoded(in: request.context)))
        }
    }

    static func getObject(_ className: String? = nil) -> Endpoint {
        Endpoint(.isPlainRead) { request in
            let command = GetObject(
                className: className ?? request.className,
                objectID: request.objectID,
                selection: try GetOptions.selection(request.readParameters)
            )
            return RESTReply(body: .encoded(try await command.encoded(in: request.context)))
        }
    }

    static func createObject(_ className: String? = nil) -> Endpoint {
        Endpoint { request in
            let command = CreateObject(className: className ?? request.className, body: request.body)
            return RESTReply(try await command.run(in: request.context))
        }
    }

    static func updateObject(_ className: String? = nil) -> Endpoint {
        Endpoint { request in
            let command = UpdateObject(
                className: className ?? request.className,
                objectID: request.objectID,
                body: request.body
            )
            return RESTReply(try await command.run(in: request.context))
        }
    }

    static func deleteObject(_ className: String? = nil) -> Endpoint {
        Endpoint { request in
            let command = DeleteObject(className: className ?? request.className, objectID: request.objectID)
            return RESTReply(try await command.run(in: request.context))
        }
    }
}

extension Endpoint {
    /// Sums and groups, for the master key (Parse REST guide, "Aggregate Queries").
    static let aggregate = Endpoint(.isPlainRead) { request in
        let command = Aggregate(className: request.className, parameters: request.readParameters)
        let subqueries = Subqueries(in: request.context)
        return try await aside {
            let result = try await command.run(in: request.context, subqueries: subqueries)
            return RESTReply(body: .encoded(JSONValue.object(result).serialized()))
        }
    }
}

extension RESTRequest {
    /// The parameters of a find.
    var findOptions: FindOptions {
        get throws {
            try FindOptions(readParameters, by: context.principal, options: context.app.options)
        }
    }

    var className: String {
        parameters["className"] ?? ""
    }
}
