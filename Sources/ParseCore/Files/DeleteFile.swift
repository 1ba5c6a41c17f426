import JSON
import Logging
import ParseWire

/// Deletes a file; objects that refer to it are left as they are.
package struct DeleteFile: Sendable {
    private let name: String?

    /// - Parameter name: As it is stored, decoded; `nil` when it could not be.
    package init(name: String?) {
        self.name = name
    }

    /// - Throws: ``ParseError``: 403 without the master key, 119 for the read-only one, 153 when there is no such
    ///   file or the store fails.
    package func run(in context: RequestContext) async throws {
        try context.requireMaster()
        try context.refuseReadOnly("delete")
        let failure = ParseError(.fileDeleteError, "Could not delete file.")
        guard let name, let files = context.app.environment.files else { throw failure }
        do {
            guard try await files.delete(name, ofApp: context.app.id) else { throw failure }
        } catch FileStoreError.overloaded {
            throw ParseError.overloaded
        } catch FileStoreError.failed(let reason) {
            context.app.environment.logger.error(
                "a file cannot be deleted",
                [("app", .string(context.app.id)), ("error", .string(reason))]
            )
            throw failure
        }
    }
}
