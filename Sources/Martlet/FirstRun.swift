import ParseCore

/// What the first run prints, so that the first user is one paste away.
package enum FirstRun {
    package static func text(_ app: NewAppKeys, serverURL: String) -> String {
        let id = app.record.id
        let clientKey = app.record.credentials.clientKey ?? ""
        return """
            An app was made for you. The master key is shown this once; only its hash is kept.

              Application id  \(id)
              Client key      \(clientKey)
              Master key      \(app.masterKey)
              Server URL      \(serverURL)

            In Swift:

              import Foundation
              import ParseSwift

              ParseSwift.initialize(
                  applicationId: "\(id)",
                  clientKey: "\(clientKey)",
                  serverURL: URL(string: "\(serverURL)")!)

            Sign a user up:

              curl -X POST \(serverURL)/users \\
                -H 'X-Parse-Application-Id: \(id)' \\
                -H 'X-Parse-Client-Key: \(clientKey)' \\
                -H 'Content-Type: application/json' \\
                -d '{"username":"alice","password":"correct horse battery staple"}'

            """
    }
}
