package import JSON
package import ParseWire

/// Where the files of all apps are kept.
///
/// Names are taken as they come, from anybody: an adapter must not let one lead to anything but a file of that
/// app and name. Calls do not block a thread of the caller.
package protocol FileStore: Sendable {
    /// Keeps a file; it is there, with what belongs to it, wholly or not at all.
    ///
    /// One of the same name is replaced; whoever reads it goes on reading what it opened. When this returns, the
    /// file is on disk.
    ///
    /// - Throws: ``FileStoreError``, or what the content throws; nothing is left behind then.
    func save(_ file: NewFile, named name: String, ofApp appID: String) async throws

    /// Opens a file; `nil` when there is none of that name.
    func open(_ name: String, ofApp appID: String) async throws -> (any OpenFile)?

    func exists(_ name: String, ofApp appID: String) async throws -> Bool

    /// Deletes a file and what belongs to it.
    ///
    /// - Returns: Whether there was one.
    func delete(_ name: String, ofApp appID: String) async throws -> Bool

    /// The names of an app's files, a page at a time, in an order that stays the same.
    ///
    /// A file that is there all the time is named once, whatever is saved and deleted meanwhile. What follows the
    /// name that the page before ended with comes next, `limit` names at most; an empty page is after the last.
    ///
    /// - Throws: ``FileStoreError``.
    func names(ofApp appID: String, after name: String?, limit: Int) async throws -> [String]

    /// What was said about a file when it was saved; `nil` for nothing, and for a file that is not there.
    func attributes(of name: String, ofApp appID: String) async throws -> FileAttributes?
}

/// A file that is being saved.
package struct NewFile: Sendable {
    /// The next bytes, at least one; `nil` at the end.
    package var content: @Sendable () async throws -> [UInt8]?
    package var attributes: FileAttributes

    package init(
        attributes: FileAttributes = FileAttributes(),
        content: @escaping @Sendable () async throws -> [UInt8]?
    ) {
        self.attributes = attributes
        self.content = content
    }
}

/// What a client says about a file beside its content.
package struct FileAttributes: Sendable, Hashable {
    package var metadata: JSONObject
    package var tags: JSONObject

    package init(metadata: JSONObject = JSONObject(), tags: JSONObject = JSONObject()) {
        self.metadata = metadata
        self.tags = tags
    }

    package var isEmpty: Bool {
        metadata.isEmpty && tags.isEmpty
    }
}

/// A file that is being read; it is closed with the last reference.
package protocol OpenFile: Sendable {
    /// In bytes.
    var size: Int { get }
    var modifiedAt: Timestamp { get }
    /// Another text for every other content the file of that name ever has; printable ASCII without quotes.
    var version: String { get }

    /// The bytes from an offset on, as many as were asked for unless the file ends.
    ///
    /// - Throws: ``FileStoreError``.
    func read(from offset: Int, count: Int) async throws -> [UInt8]
}

/// Why a file could not be kept or read.
package enum FileStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// More work is queued than the store takes on.
    case overloaded
    /// The disk refused; the text is for the log alone.
    case failed(String)

    package var description: String {
        switch self {
        case .overloaded: "too much is queued"
        case .failed(let reason): reason
        }
    }
}
