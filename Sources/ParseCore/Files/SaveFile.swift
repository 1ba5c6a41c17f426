import JSON
import Locking
import Logging
import ParseWire

/// Keeps a file that a client uploads.
package struct SaveFile: Sendable {
    /// What may be said about a file, encoded.
    private static let attributeBytes = 64 * 1024

    /// As the client gave it, decoded; `nil` when it could not be.
    private let name: String?
    private let type: MediaType?
    private let file: NewFile

    /// - Parameters:
    ///   - name: As the client gave it, decoded; `nil` when it could not be.
    ///   - contentType: The header of the upload, or what the body says in its place.
    ///   - file: Its content is not asked for before everything else has been found in order.
    package init(name: String?, contentType: String?, file: NewFile) {
        self.name = name
        type = contentType.flatMap { MediaType(contentType: $0) }
        self.file = file
    }

    /// - Throws: ``ParseError``: 119 for the read-only master key; 130 for a caller or a kind of file that the
    ///   upload policy refuses, for an empty file, and when the store fails; 122 for the name; 105 for a
    ///   prohibited keyword; 155 when too many others upload. Or what the content throws.
    package func run(in context: RequestContext) async throws -> SavedFile {
        try context.refuseReadOnly("create")
        let options = context.app.options
        try options.fileUpload.check(context.principal)
        let name = try FileName(name)
        if !context.principal.isMaster, let text = name.checkedExtension(type) {
            try options.fileUpload.check(extension: text)
        }
        guard let first = try await file.content() else {
            throw ParseError(.fileSaveError, "Invalid file upload.")
        }
        try checkAttributes(options)
        let stored = name.stored(type, isPreserved: options.preserveFileName)
        try await store(first, as: stored, requested: name.text, context)
        return SavedFile(name: stored, url: FileAddresses(context).address(of: stored))
    }

    private func checkAttributes(_ options: AppOptions) throws(ParseError) {
        guard !file.attributes.isEmpty else { return }
        for part in [file.attributes.metadata, file.attributes.tags] {
            try options.requestKeywordDenylist.check(part)
            guard JSONValue.object(part).serialized().count <= Self.attributeBytes else {
                throw ParseError(.fileSaveError, "The metadata or tags of the file are too large.")
            }
        }
    }

    private func store(
        _ first: [UInt8],
        as stored: String,
        requested: String,
        _ context: RequestContext
    ) async throws {
        let failure = ParseError(.fileSaveError, "Could not store file: \(requested).")
        guard let files = context.app.environment.files else { throw failure }
        var whole = file
        let taken = Locked<[UInt8]?>(first)
        whole.content = { [content = file.content] in
            if let bytes = taken.withLock({ $0.take() }) { return bytes }
            return try await content()
        }
        do {
            try await files.save(whole, named: stored, ofApp: context.app.id)
        } catch FileStoreError.overloaded {
            throw ParseError.overloaded
        } catch FileStoreError.failed(let reason) {
            context.app.environment.logger.error(
                "a file cannot be stored",
                [("app", .string(context.app.id)), ("error", .string(reason))]
            )
            throw failure
        }
    }
}

/// A file that was saved.
package struct SavedFile: Sendable {
    /// What objects refer to it by.
    package let name: String
    package let url: String
}
