import Cryptography
import HTTP
import JSON
import ParseCore
import ParseWire

/// An upload as browsers send it: JSON that holds the content, the credentials, and what is said about the file.
///
/// The form of requests that name no app in a header (JavaScript guide, "Files").
struct FileForm: Sendable {
    /// Everything but the content.
    var members: JSONObject
    /// `nil` without a content, and for one that is not Base64.
    let content: [UInt8]?
    let contentType: String?
    let attributes: FileAttributes

    /// - Throws: ``ParseError/unauthorized`` for what is no JSON object: nobody has said who asks.
    init(_ body: [UInt8]) throws(ParseError) {
        guard var members = (try? JSONValue.parse(body, limits: RequestLimits.json))?.objectValue else {
            throw .unauthorized
        }
        content = members.removeValue(forKey: "base64")?.stringValue.flatMap { Base64.decode($0) }
        contentType = members["_ContentType"]?.stringValue
        let data = members.removeValue(forKey: "fileData")
        attributes = FileAttributes(
            metadata: data?["metadata"]?.objectValue ?? JSONObject(),
            tags: data?["tags"]?.objectValue ?? JSONObject()
        )
        self.members = members
    }

    var file: NewFile {
        NewFile(attributes: attributes, content: HTTPBodyStream(content ?? []).next)
    }
}

extension FileAttributes {
    /// What the headers of an upload say about the file.
    ///
    /// - Throws: ``ParseError`` 107 for a header that is no JSON object; 130 for a folder, which names have no
    ///   place for.
    init(_ headers: HTTPHeaders) throws(ParseError) {
        self.init()
        guard headers.first("X-Parse-Upload-Mode")?.lowercased() == "stream" else { return }
        if let folder = headers.first("X-Parse-File-Directory"), !folder.isEmpty {
            throw ParseError(.fileSaveError, "Files have no directories.")
        }
        metadata = try Self.object(headers, "X-Parse-File-Metadata")
        tags = try Self.object(headers, "X-Parse-File-Tags")
    }

    private static func object(_ headers: HTTPHeaders, _ name: String) throws(ParseError) -> JSONObject {
        guard let text = headers.first(name) else { return JSONObject() }
        guard let object = (try? JSONValue.parse(text, limits: RequestLimits.json))?.objectValue else {
            throw ParseError(.invalidJSON, "The header \(name) must be a JSON object.")
        }
        return object
    }
}
