import ParseCore

extension Endpoint {
    static let createInstallation = Endpoint { request in
        RESTReply(try await CreateInstallation(body: request.body).run(in: request.context))
    }

    static let updateInstallation = Endpoint { request in
        let command = UpdateInstallation(objectID: request.objectID, body: request.body)
        return RESTReply(try await command.run(in: request.context))
    }
}
