import HTTP
import ParseCore

extension Endpoint {
    static let currentSession = Endpoint(.readsTokenItself) { request in
        RESTReply(try await CurrentSession().run(in: request.context))
    }

    static let createSession = Endpoint { request in
        RESTReply(try await CreateSession(body: request.body).run(in: request.context))
    }

    static let updateSession = Endpoint { request in
        let command = UpdateSession(sessionID: request.objectID, body: request.body)
        return RESTReply(try await command.run(in: request.context))
    }

    static let deleteSession = Endpoint { request in
        RESTReply(try await DeleteSession(sessionID: request.objectID).run(in: request.context))
    }
}
