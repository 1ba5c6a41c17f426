import JSON
import ParseWire

/// Who may upload files, and of which kinds (the option `fileUpload`).
package struct FileUploadPolicy: Sendable, Hashable {
    package var enableForPublic = false
    package var enableForAnonymousUser = false
    package var enableForAuthenticatedUser = true
    /// Regular expressions, of which one must be found in the extension; `*` allows all.
    package var fileExtensions = [Self.allButActiveContent]

    /// All but the kinds that a browser would run when it opens them: pages, vector graphics, XML.
    package static let allButActiveContent =
        "(?i)^(?!(?:html?|[sx]html|xht|svgz?|xml|xslt?|xsd|rng|rdf|owl|mathml)(?:\\+xml)?$)"

    package init() {}

    /// - Throws: ``ParseError`` 130 for a caller who may not upload at all.
    func check(_ principal: Principal) throws(ParseError) {
        switch principal {
        case .master, .readOnlyMaster:
            return
        case .user(let session) where session.user.isAnonymous:
            if !enableForAnonymousUser { throw Self.refusal("anonymous user") }
        case .user:
            if !enableForAuthenticatedUser { throw Self.refusal("authenticated user") }
        case .nobody, .maintenance:
            if !enableForPublic { throw Self.refusal("public") }
        }
    }

    /// - Throws: ``ParseError`` 130 for a kind of file that is not allowed.
    func check(extension text: String) throws(ParseError) {
        let isAllowed = fileExtensions.contains { $0 == "*" || ConfiguredPattern.matches(text, $0) }
        guard isAllowed else {
            throw ParseError(.fileSaveError, "File upload of extension \(text) is disabled.")
        }
    }

    private static func refusal(_ who: String) -> ParseError {
        ParseError(.fileSaveError, "File upload by \(who) is disabled.")
    }
}

extension StoredRow {
    /// Whether the user has no account but an anonymous one.
    fileprivate var isAnonymous: Bool {
        guard let data = fields["authData"]?.objectValue?[AnonymousProvider.name] else { return false }
        return !data.isNull
    }
}
