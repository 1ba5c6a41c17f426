/// The names of the request headers of the Parse REST API (Parse REST guide, "Request Format").
///
/// Header names are compared without regard to case.
package enum ParseHeader {
    package static let applicationID = "X-Parse-Application-Id"
    package static let clientKey = "X-Parse-Client-Key"
    package static let restAPIKey = "X-Parse-REST-API-Key"
    package static let javascriptKey = "X-Parse-Javascript-Key"
    package static let windowsKey = "X-Parse-Windows-Key"
    package static let masterKey = "X-Parse-Master-Key"
    package static let maintenanceKey = "X-Parse-Maintenance-Key"
    package static let sessionToken = "X-Parse-Session-Token"
    package static let installationID = "X-Parse-Installation-Id"
    package static let requestID = "X-Parse-Request-Id"
    package static let cloudContext = "X-Parse-Cloud-Context"
}
