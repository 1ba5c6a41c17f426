import JSON
import ParseCore

extension Endpoint {
    static let readConfig = Endpoint(.isPlainRead) { request in
        RESTReply(try await ReadConfig().run(in: request.context))
    }

    static let updateConfig = Endpoint { request in
        RESTReply(try await UpdateConfig(body: request.body).run(in: request.context))
    }
}
