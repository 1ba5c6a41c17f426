import HTTP
import JSON
import ParseCore

extension Endpoint {
    static let readSchemas = Endpoint(.isPlainRead) { request in
        RESTReply(try ReadSchemas().run(in: request.context))
    }

    static let readSchema = Endpoint(.isPlainRead) { request in
        RESTReply(try ReadSchema(className: request.className).run(in: request.context))
    }

    static let createSchema = Endpoint { request in
        let command = CreateSchema(className: request.parameters["className"], body: request.body)
        return RESTReply(try await command.run(in: request.context))
    }

    static let updateSchema = Endpoint { request in
        let command = UpdateSchema(className: request.className, body: request.body)
        return RESTReply(try await command.run(in: request.context))
    }

    static let deleteSchema = Endpoint { request in
        RESTReply(try await DeleteSchema(className: request.className).run(in: request.context))
    }

    static let purgeClass = Endpoint { request in
        RESTReply(try await PurgeClass(className: request.className).run(in: request.context))
    }
}
