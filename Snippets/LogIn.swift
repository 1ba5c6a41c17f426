import Foundation
import ParseSwift

struct User: ParseUser {
    var authData: [String: [String: String]?]?
    var originalData: Data?
    var objectId: String?, createdAt: Date?, updatedAt: Date?, ACL: ParseACL?
    var username: String?, email: String?, emailVerified: Bool?, password: String?
    var age: Int?
}

ParseSwift.initialize(
    applicationId: "YOUR_APP_ID", clientKey: "YOUR_CLIENT_KEY", serverURL: URL(string: "http://127.0.0.1:1337/parse")!)
let user = try User.current ?? User.login(username: "alice", password: "correct horse battery staple")
print("Hello, \(user.username ?? "")!")
try User.logout()
