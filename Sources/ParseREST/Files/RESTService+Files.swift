import EventLoop
package import HTTP
import JSON
import ParseCore
import ParseWire

// Files: matched before anything reads the body as JSON, which here is the content.
extension RESTService {
    package func streamsBody(of head: HTTPRequestHead) -> Bool {
        head.method == .post && FileRoute.isFiles(head.path)
    }

    package nonisolated(nonsending) func respond(
        to request: HTTPRequest,
        body: HTTPBodyStream
    ) async -> HTTPResponse {
        let (mount, path) = Mount.split(request.path)
        guard let route = FileRoute(request.method, path) else {
            return Self.notFound(request, defaultCORS.lines(for: request.headers))
        }
        do {
            switch route {
            case .upload, .delete:
                return try await change(route, FileCall(request: request, mount: mount, body: body))
            case .uploadOfNothing:
                throw ParseError(.invalidFileName, "Filename not provided.")
            case .download(let appID, let name):
                return try await download(name, ofApp: appID, request)
            case .metadata(let appID, let name):
                return await metadata(of: name, ofApp: appID, request)
            }
        } catch {
            return failure(error, defaultCORS.jsonLines(for: request.headers), request)
        }
    }

    // MARK: - Uploads and deletions

    /// A request that changes files, before it is known who asks.
    private struct FileCall {
        let request: HTTPRequest
        let mount: String
        let body: HTTPBodyStream
    }

    /// - Throws: What is wrong before the app is known; everything later is answered by the app's own rules.
    private nonisolated(nonsending) func change(
        _ route: FileRoute,
        _ call: FileCall
    ) async throws -> HTTPResponse {
        let headers = call.request.headers
        if let encoding = headers.first("Content-Encoding"), encoding.lowercased() != "identity" {
            throw RequestRefusal(status: 415, message: "unsupported content encoding \"\(encoding)\"")
        }
        try DecodedRequest.checkCloudContext(headers)
        var keys = RequestKeys(headers)
        var form: FileForm?
        let app: App
        if let named = try await authenticator.app(ofHeaders: &keys) {
            app = named
        } else {
            var sent = try await self.form(call)
            app = try await authenticator.app(&keys, &sent.members)
            form = sent
        }
        defer { apps.release(app) }
        let cors = cors(of: app)
        do {
            return try await change(route, call, app, keys, form, cors)
        } catch {
            return failure(error, cors.jsonLines(for: headers), call.request)
        }
    }

    private nonisolated(nonsending) func change(
        _ route: FileRoute,
        _ call: FileCall,
        _ app: App,
        _ keys: RequestKeys,
        _ form: FileForm?,
        _ cors: CORS
    ) async throws -> HTTPResponse {
        let request = call.request
        let client = Self.client(of: request, app)
        let context = RequestContext(
            app: app,
            principal: try await authenticator.principal(keys, app, client: client, []),
            sessionToken: keys.sessionToken,
            installationID: keys.installationID,
            lane: nil,
            baseURL: { [mount = call.mount] in Self.base(request, app, mount) }
        )
        guard case .upload(let name) = route else {
            guard case .delete(let name) = route else { preconditionFailure("a file is saved or deleted") }
            try await DeleteFile(name: name).run(in: context)
            return Self.empty(200, cors.lines(for: request.headers))
        }
        let command = SaveFile(
            name: name,
            contentType: form?.contentType ?? request.headers.first("Content-Type"),
            file: try form?.file
                ?? NewFile(attributes: FileAttributes(request.headers), content: call.body.next)
        )
        let saved = try await command.run(in: context)
        var response = response(
            201,
            ["url": .string(saved.url), "name": .string(saved.name)],
            cors.jsonLines(for: request.headers)
        )
        response.headers.add("Location", saved.url)
        return response
    }

    /// Reads the form in which a request names its app in its body.
    private nonisolated(nonsending) func form(_ call: FileCall) async throws -> FileForm {
        let body = try await call.body.collect()
        return try await largeBody { try FileForm(body) }
    }

    // MARK: - Downloads

    private nonisolated(nonsending) func download(
        _ name: String?,
        ofApp appID: String?,
        _ request: HTTPRequest
    ) async throws -> HTTPResponse {
        guard let appID, let app = try await apps.acquire(id: appID) else {
            throw ParseError(httpStatus: 403, "Permission denied")
        }
        defer { apps.release(app) }
        let lines = cors(of: app).lines(for: request.headers)
        do {
            guard let name, let file = try await app.environment.files?.open(name, ofApp: app.id) else {
                var response = Self.empty(
                    404,
                    lines + Array("Content-Type: text/plain; charset=utf-8\r\n".utf8)
                )
                response.body = Array("File not found.".utf8)
                return response
            }
            return try await FileDownload(file: file, name: name, request: request, lines: lines).response()
        } catch FileStoreError.overloaded {
            return failure(ParseError.overloaded, cors(of: app).jsonLines(for: request.headers), request)
        }
    }

    /// Whatever cannot be had is answered with nothing: who asks is not told why.
    private nonisolated(nonsending) func metadata(
        of name: String?,
        ofApp appID: String?,
        _ request: HTTPRequest
    ) async -> HTTPResponse {
        var reply = JSONObject()
        var cors = defaultCORS
        do {
            if let appID, let name, let app = try await apps.acquire(id: appID) {
                defer { apps.release(app) }
                cors = self.cors(of: app)
                let found = try await app.environment.files?.attributes(of: name, ofApp: app.id)
                if let found, !found.metadata.isEmpty { reply["metadata"] = .object(found.metadata) }
            }
        } catch {
            _ = known(error)
        }
        return response(200, .object(reply), cors.jsonLines(for: request.headers))
    }

    private static func empty(_ status: Int, _ lines: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.preformattedHeaders = lines
        return response
    }
}
