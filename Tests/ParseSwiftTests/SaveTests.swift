import Foundation
import Testing

@testable import ParseSwift

extension SDK {
    @Suite struct SaveTests {
        static let created = #"{"objectId":"n1","createdAt":"2024-10-24T21:13:17.123Z"}"#
        static let updated = #"{"updatedAt":"2024-10-25T21:13:17.123Z"}"#
        static let note =
            #"{"objectId":"n1","createdAt":"2024-10-24T21:13:17.123Z","updatedAt":"2024-10-24T21:13:17.123Z","#
            + #""title":"T","description":"D","score":5,"extra":1}"#

        func box(_ answer: String = SaveTests.updated) throws -> Sandbox {
            try Sandbox { _ in .json(answer) }
        }

        @Test func `a new object is posted with its fields, and columns called score and id stay`() throws {
            let box = try box(Self.created)
            var note = Note(title: "T", description: "D", score: 5)
            note.due = Date(timeIntervalSince1970: 1.5)
            note.parts = [Part(id: "p", score: 1, className: "c")]
            note.parent = Pointer(objectId: "n0")
            note.owner = User(objectId: "u1", username: "ann")
            let saved = try note.save()
            let request = try #require(box.server.requests.last)
            #expect("\(request.method) \(request.path)" == "POST /parse/classes/Note")
            #expect(
                request.json
                    == #"{"description":"D","due":{"__type":"Date","iso":"1970-01-01T00:00:01.500Z"},"#
                    + #""owner":{"__type":"Pointer","className":"_User","objectId":"u1"},"#
                    + #""parent":{"__type":"Pointer","className":"Note","objectId":"n0"},"#
                    + #""parts":[{"className":"c","id":"p","score":1}],"score":5,"title":"T"}"#
            )
            #expect(saved.objectId == "n1")
            #expect(saved.updatedAt == saved.createdAt)
            #expect(saved.owner?.username == "ann")
            #expect(note.objectId == nil)
        }

        @Test func `a child that is not saved is refused before anything is sent`() throws {
            let box = try box()
            let error = #expect(throws: ParseError.self) { try Note(owner: User(username: "x")).save() }
            #expect(error?.code == .missingObjectId)
            #expect(error?.message.contains("owner") == true)
            #expect(box.server.requests.isEmpty)
        }

        @Test func `an update sends what changed, and nil removes`() throws {
            let box = try box(Self.note)
            var note = try Note(objectId: "n1").fetch()
            box.server.answer { _ in .json(Self.updated) }
            note.title = "U"
            note.description = nil
            let saved = try note.save()
            let request = try #require(box.server.requests.last)
            #expect("\(request.method) \(request.path)" == "PUT /parse/classes/Note/n1")
            #expect(request.json == #"{"description":{"__op":"Delete"},"title":"U"}"#)
            #expect(saved.score == 5)
            #expect(saved.description == nil)
            // The saved value is the next state to compare with.
            var next = saved
            next.score = nil
            _ = try next.save()
            #expect(box.server.requests.last?.json == #"{"score":{"__op":"Delete"}}"#)
            // The older value still knows what it was.
            note.title = "V"
            _ = try note.save()
            #expect(box.server.requests.last?.json == #"{"description":{"__op":"Delete"},"title":"V"}"#)
        }

        @Test func `an update without changes sends an empty object`() throws {
            let box = try box(Self.note)
            let note = try Note(objectId: "n1").fetch()
            box.server.answer { _ in .json(Self.updated) }
            _ = try note.save()
            #expect(box.server.requests.last?.json == "{}")
        }

        @Test func `a value built from its id leaves the other fields alone`() throws {
            let box = try box(Self.note)
            _ = try Note(objectId: "n1").fetch()
            box.server.answer { _ in .json(Self.updated) }
            var note = Note(objectId: "n1")
            note.title = "U"
            let saved = try note.save()
            #expect(box.server.requests.last?.json == #"{"title":"U"}"#)
            var again = saved
            again.title = "V"
            _ = try again.save()
            #expect(box.server.requests.last?.json == #"{"title":"V"}"#)
        }

        @Test func `a field that an answer left out is not removed`() throws {
            let box = try box(Self.note)
            _ = try Note(objectId: "n1").fetch()
            // The same state again, with a selection of its fields.
            box.server.answer { _ in
                .json(#"{"objectId":"n1","updatedAt":"2024-10-24T21:13:17.123Z","title":"T"}"#)
            }
            var part = try Note(objectId: "n1").fetch()
            box.server.answer { _ in .json(Self.updated) }
            part.title = "U"
            _ = try part.save()
            #expect(box.server.requests.last?.json == #"{"title":"U"}"#)
            // What the first answer said is still known.
            part.score = 5
            part.title = nil
            _ = try part.save()
            #expect(box.server.requests.last?.json == #"{"title":{"__op":"Delete"}}"#)
        }

        @Test func `a model without originalData works the same`() throws {
            let box = try box(Self.note)
            var item = try OldItem(objectId: "n1").fetch()
            box.server.answer { _ in .json(Self.updated) }
            item.title = nil
            _ = try item.save()
            #expect(box.server.requests.last?.json == #"{"title":{"__op":"Delete"}}"#)
            var copy = item.mergeable
            copy.description = "E"
            _ = try copy.save()
            #expect(box.server.requests.last?.json == #"{"description":"E"}"#)
        }

        @Test func `a mergeable copy sends what was set and comes back whole`() throws {
            let box = try box(Self.note)
            let note = try Note(objectId: "n1").fetch()
            box.server.answer { _ in .json(Self.updated) }
            var copy = note.mergeable
            #expect(copy.title == nil)
            copy.title = "U"
            copy.description = "D"
            let saved = try copy.save()
            #expect(box.server.requests.last?.json == #"{"title":"U"}"#)
            #expect(saved.title == "U")
            #expect(saved.score == 5)
            #expect(saved.originalData == nil)
        }

        @Test func `a model whose merge calls itself can be saved`() throws {
            let box = try box(Self.created)
            var saved = try TutorialContact(name: "A").save()
            box.server.answer { _ in .json(Self.updated) }
            saved.name = "B"
            _ = try saved.save()
            var copy = saved.mergeable
            copy.name = "C"
            #expect(try copy.save().name == "C")
        }

        @Test func `merge restores what is nil`() throws {
            let old = Note(objectId: "n1", title: "T", score: 5)
            let new = Note(objectId: "n1", title: "U")
            #expect(try new.merge(with: old) == Note(objectId: "n1", title: "U", score: 5))
            #expect(new.shouldRestoreKey(\.score, original: old))
            #expect(!new.shouldRestoreKey(\.title, original: old))
            #expect(throws: ParseError.self) { try new.merge(with: Note(objectId: "n2")) }
        }

        @Test func `fields changed by the server are in the saved value`() throws {
            _ = try box(
                #"{"objectId":"n1","createdAt":"2024-10-24T21:13:17.123Z","title":"By trigger","score":{"__op":"Delete"}}"#
            )
            let saved = try Note(title: "T", score: 5).save()
            #expect(saved.title == "By trigger")
            #expect(saved.score == nil)
        }

        @Test func `create, replace and delete use their methods`() async throws {
            let box = try box(Self.created)
            try await Note(title: "T").create()
            box.server.answer { _ in .json(Self.updated) }
            try await Note(objectId: "n1", updatedAt: Date(), title: "T").replace()
            try await Note(objectId: "n1").delete()
            #expect(
                box.server.requests.map { "\($0.method) \($0.path) \($0.body)" } == [
                    #"POST /parse/classes/Note {"title":"T"}"#, #"PUT /parse/classes/Note/n1 {"title":"T"}"#,
                    "DELETE /parse/classes/Note/n1 ",
                ]
            )
            for error in [
                await #expect(throws: ParseError.self) { try await Note().replace() },
                await #expect(throws: ParseError.self) { try await Note().delete() },
                await #expect(throws: ParseError.self) { try await Note().fetch() },
            ] {
                #expect(error?.code == .missingObjectId)
            }
        }

        @Test func `custom ids: without one a save is refused, with one it is sent`() throws {
            let server = try MockServer { _ in .json(Self.created) }
            ParseSwift.initialize(
                applicationId: "app",
                serverURL: server.url,
                allowingCustomObjectIds: true,
                keyValueStore: AppStore(recording: RecordingStore())
            )
            #expect(throws: ParseError.self) { try Note(title: "T").save() }
            _ = try Note(objectId: "mine", title: "T").save()
            _ = try Note(title: "T").save(ignoringCustomObjectIdConfig: true)
            #expect(
                server.requests.map(\.json) == [#"{"objectId":"mine","title":"T"}"#, #"{"title":"T"}"#]
            )
        }

        @Test func `saving the current user never sends an unchanged address`() throws {
            let box = try Sandbox()
            var user = try box.logIn()
            box.server.answer { _ in .json(Self.updated) }
            user.age = 31
            _ = try user.save()
            #expect(box.server.requests.last?.json == #"{"age":31}"#)
            // A value of an unknown state, and one after a restart.
            _ = try User(objectId: "u1", email: "ann@example.org", age: 32).save()
            #expect(box.server.requests.last?.json == #"{"age":32}"#)
            box.start()
            var restarted = try #require(User.current)
            #expect(restarted.age == 32)
            restarted.age = nil
            _ = try restarted.save()
            #expect(box.server.requests.last?.json == #"{"age":{"__op":"Delete"}}"#)
            #expect(User.current?.age == nil)
            restarted.email = "new@example.org"
            _ = try restarted.save()
            #expect(box.server.requests.last?.json.contains(#""email":"new@example.org""#) == true)
        }

        @Test func `emailVerified is never sent`() throws {
            let box = try box()
            _ = try User(objectId: "u1", username: "a", emailVerified: true).save()
            #expect(box.server.requests.last?.json == #"{"username":"a"}"#)
        }

        @Test func `a password given to an anonymous user drops the anonymous identity`() throws {
            let box = try Sandbox { _ in .json(Sandbox.user(#","authData":{"anonymous":{"id":"x"}}"#)) }
            var user = try User.anonymous.login()
            box.server.answer { _ in .json(Self.updated) }
            user.username = "new"
            user.password = "pw"
            _ = try user.save()
            #expect(
                box.server.requests.last?.json
                    == #"{"authData":{"anonymous":null},"password":"pw","username":"new"}"#
            )
            #expect(!User.anonymous.isLinked)
        }

        @Test func `authData that did not change is not echoed`() throws {
            let box = try Sandbox()
            var user = try box.logIn(#","authData":{"mfa":{"status":"enabled"},"google":{"id":"g"}}"#)
            box.server.answer { _ in .json(Self.updated) }
            user.age = 31
            _ = try user.save()
            #expect(box.server.requests.last?.json == #"{"age":31}"#)
            user.authData?["google"] = .some(nil)
            _ = try user.save()
            #expect(box.server.requests.last?.json == #"{"age":31,"authData":{"google":null}}"#)
        }

        @Test func `the default ACL goes onto new objects that have none`() throws {
            let box = try Sandbox()
            #expect(throws: ParseError.self) { try ParseACL.defaultACL() }
            var acl = ParseACL()
            acl.publicRead = true
            let error = #expect(throws: ParseError.self) {
                try ParseACL.setDefaultACL(acl, withAccessForCurrentUser: true)
            }
            #expect(error?.code == .missingObjectId)
            try box.logIn()
            _ = try ParseACL.setDefaultACL(acl, withAccessForCurrentUser: true)
            box.server.answer { _ in .json(Self.created) }
            let saved = try Note(title: "T").save()
            #expect(
                box.server.requests.last?.json
                    == #"{"ACL":{"*":{"read":true},"u1":{"read":true,"write":true}},"title":"T"}"#
            )
            #expect(saved.ACL?.getWriteAccess(objectId: "u1") == true)
            var own = ParseACL()
            own.setReadAccess(roleName: "r", value: true)
            _ = try Note(ACL: own, title: "T").save()
            #expect(box.server.requests.last?.json == #"{"ACL":{"role:r":{"read":true}},"title":"T"}"#)
            try User.logout()
            #expect(throws: ParseError.self) { try ParseACL.defaultACL() }
        }

        @Test func `an unsaved value has the same id at each read, an equal one too`() {
            let note = Note(title: "T")
            #expect(note.id == note.id)
            #expect(note.id == Note(title: "T").id)
            #expect(note.id != Note(title: "U").id)
            #expect(note.id != OldItem(title: "T").id)
            #expect(Set([note, Note(title: "T"), Note(title: "U")]).count == 2)
            #expect(Note(objectId: "n1", title: "T").id == "n1")
        }

        @Test func `fetch asks for included objects`() async throws {
            let box = try box(Self.note)
            try await Note(objectId: "n 1/+").fetch(includeKeys: ["owner", "parent.owner"])
            #expect(
                box.server.requests.last?.target
                    == "/parse/classes/Note/n%201%2F%2B?include=owner%2Cparent.owner"
            )
            #expect(box.server.requests.last?.header("X-Parse-Request-Id") == nil)
            #expect(box.server.requests.last?.header("Content-Length") == nil)
        }

        @Test func `a pointer in an answer is read as an object, an object as a pointer`() throws {
            _ = try box(
                #"{"objectId":"n1","owner":{"__type":"Pointer","className":"_User","objectId":"u1"},"#
                    + #""parent":{"__type":"Object","className":"Note","objectId":"n0","title":"P"}}"#
            )
            let note = try Note(objectId: "n1").fetch()
            #expect(note.owner == User(objectId: "u1"))
            #expect(note.parent == Pointer(objectId: "n0"))
            #expect(try note.toPointer().toObject() == Note(objectId: "n1"))
            #expect(throws: ParseError.self) { try Note().toPointer() }
        }

        @Test func `a password is not printed`() {
            var user = User(username: "ann", password: "secret")
            user.authData = ["google": ["id_token": "secret"]]
            #expect(!"\(user)".contains("secret"))
            var session = Session()
            session.sessionToken = "r:secret"
            #expect(!"\(session)".contains("secret"))
            #expect("\(Note(objectId: "n1", title: "T"))" == #"Note ({"objectId":"n1","title":"T"})"#)
        }
    }

    @Suite struct InstallationTests {
        @Test func `there is one id per store, with automatic fields`() async throws {
            let box = try Sandbox()
            let installation = try #require(Installation.current)
            let id = try #require(installation.installationId)
            #expect(id == id.lowercased() && UUID(uuidString: id) != nil)
            #expect(installation.deviceType == "linux")
            #expect(installation.timeZone == TimeZone.current.identifier)
            #expect(installation.parseVersion == ParseVersion.current)
            box.start()
            #expect(Installation.current?.installationId == id)
            #expect(try await Installation.current().installationId == id)
        }

        @Test func `a save keeps the objectId, and the next save is an update`() throws {
            let box = try Sandbox { _ in
                .json(#"{"objectId":"i1","createdAt":"2024-10-24T21:13:17.123Z"}"#, status: 201)
            }
            var installation = try #require(Installation.current)
            installation.setDeviceToken(Data([0x0a, 0xff]))
            _ = try installation.save()
            let first = try #require(box.server.requests.last)
            #expect("\(first.method) \(first.path)" == "POST /parse/installations")
            #expect(first.json.contains(#""deviceToken":"0aff""#))
            #expect(first.json.contains(#""installationId":"\#(installation.installationId ?? "")""#))
            box.start()
            box.server.answer { _ in .json(#"{"updatedAt":"2024-10-25T21:13:17.123Z"}"#) }
            var kept = try #require(Installation.current)
            #expect(kept.objectId == "i1")
            #expect(kept.deviceToken == "0aff")
            kept.channels = ["news"]
            _ = try kept.save()
            let second = try #require(box.server.requests.last)
            #expect("\(second.method) \(second.path)" == "PUT /parse/installations/i1")
            #expect(Installation.current?.channels == ["news"])
        }

        @Test func `an answer of an upsert is taken`() throws {
            _ = try Sandbox { _ in
                .json(
                    #"{"objectId":"i1","updatedAt":"2024-10-24T21:13:17.123Z","__type":"Pointer","className":"_Installation"}"#
                )
            }
            #expect(try #require(Installation.current).save().objectId == "i1")
            #expect(Installation.current?.objectId == "i1")
        }

        @Test func `a store that cannot be read gets no new id`() throws {
            let box = try Sandbox()
            let id = Installation.current?.installationId
            let kept = box.store.text("_currentInstallation")
            box.store.fail(with: POSIXError(.EIO))
            box.start()
            let makeshift = Installation.current?.installationId
            #expect(makeshift != nil && makeshift != id)
            #expect(Installation.current?.installationId == makeshift)
            box.store.fail(with: nil)
            #expect(box.store.text("_currentInstallation") == kept)
            #expect(Installation.current?.installationId == id)
        }

        @Test func `deleting it keeps the id`() throws {
            let box = try Sandbox { _ in .json(#"{"objectId":"i1","createdAt":"2024-10-24T21:13:17.123Z"}"#) }
            let saved = try #require(Installation.current).save()
            box.server.answer { _ in .json("{}") }
            try saved.delete()
            #expect(Installation.current?.objectId == nil)
            #expect(Installation.current?.installationId == saved.installationId)
        }
    }
}
