import Foundation
import ParseSwift

struct User: ParseUser {
    var authData: [String: [String: String]?]?
    var originalData: Data?
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var username: String?
    var email: String?
    var emailVerified: Bool?
    var password: String?
    var age: Int?
}

struct Installation: ParseInstallation {
    var originalData: Data?
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var deviceType: String?
    var installationId: String?
    var deviceToken: String?
    var badge: Int?
    var timeZone: String?
    var channels: [String]?
    var appName: String?
    var appIdentifier: String?
    var appVersion: String?
    var parseVersion: String?
    var localeIdentifier: String?
}

struct Part: Codable, Hashable {
    var id: String?
    var score: Int?
    var className: String?
}

struct Note: ParseObject {
    var originalData: Data?
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var title: String?
    var description: String?
    var score: Int?
    var due: Date?
    var parts: [Part]?
    var parent: Pointer<Note>?
    var owner: User?
}

/// A model written for the 3.x line: no `originalData`.
struct OldItem: ParseObject {
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var title: String?
    var description: String?
}
