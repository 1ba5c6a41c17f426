import Foundation
import ParseSwift

// The published tutorials (connect, registration, log-in and log-out, password reset, verification), with
// the parts of UIKit they touch played by a few lines at the end. That this file compiles is the test:
// in language mode 6 here, and in mode 5 in Examples/LogInCLI.

final class TutorialAppDelegate {
    func applicationDidFinishLaunching() -> Bool {
        ParseSwift.initialize(
            applicationId: "APPLICATION_ID",
            clientKey: "CLIENT_KEY",
            serverURL: URL(string: "https://parseapi.back4app.com") ?? URL(fileURLWithPath: "/")
        )
        return true
    }
}

struct TutorialUser: ParseUser {
    // These are required by `ParseObject`.
    var authData: [String: [String: String]?]?
    var originalData: Data?
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?

    // These are required by `ParseUser`.
    var username: String?
    var email: String?
    var emailVerified: Bool?
    var password: String?

    // A custom property.
    var age: Int?
}

@MainActor class TutorialLogInController {
    let usernameTextField = TutorialTextField()
    let passwordTextField = TutorialTextField()

    func viewDidLoad() {
        // A user logged in earlier skips the form.
        if let user = TutorialUser.current {
            showMessage(title: "Hello", message: "\(user.username ?? "")")
        }
        if TutorialUser.current != nil {
            push()
        }
    }

    func signUp(username: String, email: String, password: String) {
        var newUser = TutorialUser(username: username, email: email, password: password)
        newUser.age = 25

        newUser.signup { [weak self] result in
            switch result {
            case .success(let user):
                self?.showMessage(title: "Signup succeeded", message: "\(user)")
            case .failure(let error):
                self?.showMessage(title: "Error", message: error.message)
            }
        }
    }

    func logIn(with username: String, password: String) {
        // The synchronous and the completion form, one below the other as the guide prints them.
        do {
            let loggedInUser = try TutorialUser.login(username: username, password: password)
            showMessage(title: "Success", message: "\(loggedInUser)")
        } catch let error as ParseError {
            showMessage(title: "Error", message: "Failed to log in: \(error.message)")
        } catch {
            showMessage(title: "Error", message: "Failed to log in: \(error.localizedDescription)")
        }

        TutorialUser.login(username: username, password: password) { [weak self] result in
            switch result {
            case .success(let loggedInUser):
                self?.usernameTextField.text = nil
                self?.passwordTextField.text = nil
                self?.showMessage(title: "Success", message: loggedInUser.username ?? "")
                self?.push()
            case .failure(let error):
                self?.showMessage(title: "Error", message: "Failed to log in: \(error.message)")
            }
        }
    }

    func logOut() {
        do {
            try TutorialUser.logout()
            showMessage(title: "Success", message: "Logged out")
        } catch let error as ParseError {
            showMessage(title: "Error", message: "Failed to log out: \(error.message)")
        } catch {
            showMessage(title: "Error", message: "Failed to log out: \(error.localizedDescription)")
        }

        TutorialUser.logout { [weak self] result in
            switch result {
            case .success:
                self?.showMessage(title: "Success", message: "Logged out")
            case .failure(let error):
                self?.showMessage(title: "Error", message: "Failed to log out: \(error.message)")
            }
        }
    }

    func resetPassword(email: String) {
        TutorialUser.passwordReset(email: email) { result in
            switch result {
            case .success:
                print("A mail was sent.")
            case .failure(let error):
                print(error.localizedDescription)
            }
        }
        do {
            try TutorialUser.passwordReset(email: email)
        } catch {
            print(error)
        }
    }

    func verify(email: String) {
        TutorialUser.verificationEmail(email: email) { [weak self] result in
            if case .failure(let error) = result {
                self?.showMessage(title: "Error", message: error.message)
            }
        }
        TutorialUser.current?.fetch { [weak self] result in
            switch result {
            case .success(let user):
                self?.showMessage(title: "Verified", message: "\(user.emailVerified ?? false)")
            case .failure(let error):
                self?.showMessage(title: "Error", message: error.message)
            }
        }
    }

    // The calls of the newer line, inside asynchronous code.
    func modern() async throws {
        try await ParseSwift.initialize(
            applicationId: "a",
            clientKey: "b",
            serverURL: URL(string: "https://parseapi.back4app.com") ?? URL(fileURLWithPath: "/")
        )
        let user = try await TutorialUser.login(username: "a", password: "b")
        let current = try await TutorialUser.current()
        _ = user == current
        if TutorialUser.current != nil { print(TutorialUser.current?.username ?? "") }
        _ = try await TutorialUser.sessionToken()
        try await TutorialUser.login(email: "a@b.c", password: "d")
        try await user.save()
        try await user.fetch()
        try await TutorialUser.anonymous.login()
        try await TutorialUser.logout()
    }

    // The to-do list of the CRUD guide: the closure captures a mutable local.
    func update(objectId: String) {
        var item = TutorialItem(objectId: objectId)
        item.title = "New title"
        item.save { [weak self] result in
            switch result {
            case .success:
                item.description = "seen"
                self?.showMessage(title: "Saved", message: item.title ?? "")
            case .failure(let error):
                self?.showMessage(title: "Error", message: error.message)
            }
        }
        item.delete { result in
            switch result {
            case .success: print("deleted")
            case .failure(let error): print(error.message)
            }
        }
        _ = try? item.save()
    }

    func showMessage(title: String, message: String) {}
    func push() {}
}

/// A model of the contacts guide, whose `merge` calls itself: it must not be called by a plain save.
struct TutorialContact: ParseObject {
    var originalData: Data?
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?

    var name: String?

    func merge(with object: TutorialContact) throws -> TutorialContact {
        var updated = try again(object)
        if shouldRestoreKey(\.name, original: object) { updated.name = object.name }
        return updated
    }

    // The guide calls `merge` right there; the detour only keeps the compiler from noticing.
    private func again(_ object: TutorialContact) throws -> TutorialContact { try merge(with: object) }
}

struct TutorialItem: ParseObject {
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?

    var title: String?
    var description: String?
}

@MainActor final class TutorialTextField {
    var text: String?
}
