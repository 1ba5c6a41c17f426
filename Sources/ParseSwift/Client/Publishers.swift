#if canImport(Combine)
    public import Combine

    // The calls once more, as Combine's futures. A future begins its work when it is made, not when somebody
    // subscribes, and its value arrives on the main queue.

    extension ParseObject {
        /// Reads the object from the server.
        public func fetchPublisher(includeKeys: [String]? = nil, options: API.Options = []) -> Future<
            Self, ParseError
        > {
            Future { promise in fetch(includeKeys: includeKeys, options: options, completion: promise) }
        }

        /// Creates the object on the server, or sends what changed.
        public func savePublisher(ignoringCustomObjectIdConfig: Bool = false, options: API.Options = [])
            -> Future<Self, ParseError>
        {
            Future { promise in
                save(
                    ignoringCustomObjectIdConfig: ignoringCustomObjectIdConfig,
                    options: options,
                    completion: promise
                )
            }
        }

        /// Creates the object on the server, also when it has an id.
        public func createPublisher(options: API.Options = []) -> Future<Self, ParseError> {
            Future { promise in create(options: options, completion: promise) }
        }

        /// Sends every property that is not `nil`, changed or not.
        public func replacePublisher(options: API.Options = []) -> Future<Self, ParseError> {
            Future { promise in replace(options: options, completion: promise) }
        }

        /// Deletes the object from the server.
        public func deletePublisher(options: API.Options = []) -> Future<Void, ParseError> {
            Future { promise in delete(options: options, completion: promise) }
        }
    }

    extension Pointer {
        /// Reads the object from the server.
        public func fetchPublisher(includeKeys: [String]? = nil, options: API.Options = []) -> Future<
            T, ParseError
        > {
            Future { promise in fetch(includeKeys: includeKeys, options: options, completion: promise) }
        }
    }

    extension ParseUser {
        /// Registers a new user, who is then the current one.
        public static func signupPublisher(username: String, password: String, options: API.Options = [])
            -> Future<Self, ParseError>
        {
            Future { promise in
                signup(username: username, password: password, options: options, completion: promise)
            }
        }

        /// Registers this user with all its fields, who is then the current one.
        public func signupPublisher(options: API.Options = []) -> Future<Self, ParseError> {
            Future { promise in signup(options: options, completion: promise) }
        }

        /// Logs in.
        public static func loginPublisher(username: String, password: String, options: API.Options = [])
            -> Future<Self, ParseError>
        {
            Future { promise in
                login(username: username, password: password, options: options, completion: promise)
            }
        }

        /// Logs in with a session token.
        public func becomePublisher(sessionToken: String, options: API.Options = []) -> Future<
            Self, ParseError
        > {
            Future { promise in become(sessionToken: sessionToken, options: options, completion: promise) }
        }

        /// Logs out.
        public static func logoutPublisher(options: API.Options = []) -> Future<Void, ParseError> {
            Future { promise in logout(options: options, completion: promise) }
        }

        /// Asks for a mail with a link to set a new password.
        public static func passwordResetPublisher(email: String, options: API.Options = []) -> Future<
            Void, ParseError
        > {
            Future { promise in passwordReset(email: email, options: options, completion: promise) }
        }

        /// Asks for another mail with a link to verify the address.
        public static func verificationEmailPublisher(email: String, options: API.Options = []) -> Future<
            Void, ParseError
        > {
            Future { promise in verificationEmail(email: email, options: options, completion: promise) }
        }

        /// Asks the server whether this is the password of the current user.
        public static func verifyPasswordPublisher(
            password: String,
            usingPost: Bool = false,
            options: API.Options = []
        ) -> Future<Self, ParseError> {
            Future { promise in
                verifyPassword(
                    password: password,
                    usingPost: usingPost,
                    options: options,
                    completion: promise
                )
            }
        }

        /// Logs in with an identity at another provider.
        public static func loginPublisher(
            _ type: String,
            authData: [String: String],
            options: API.Options = []
        ) -> Future<Self, ParseError> {
            Future { promise in login(type, authData: authData, options: options, completion: promise) }
        }

        /// Links an identity at another provider to the current user.
        public static func linkPublisher(
            _ type: String,
            authData: [String: String],
            options: API.Options = []
        ) -> Future<Self, ParseError> {
            Future { promise in link(type, authData: authData, options: options, completion: promise) }
        }

        /// Takes an identity off the current user.
        public func unlinkPublisher(_ type: String, options: API.Options = []) -> Future<Self, ParseError> {
            Future { promise in unlink(type, options: options, completion: promise) }
        }
    }

    extension ParseAuthentication {
        /// Takes the identity off the user, who must be the current one.
        public func unlinkPublisher(_ user: AuthenticatedUser, options: API.Options = []) -> Future<
            AuthenticatedUser, ParseError
        > {
            Future { promise in unlink(user, options: options, completion: promise) }
        }

        /// Takes the identity off the current user.
        public func unlinkPublisher(options: API.Options = []) -> Future<AuthenticatedUser, ParseError> {
            Future { promise in unlink(options: options, completion: promise) }
        }
    }

    extension ParseAnonymous {
        /// Logs in as an anonymous user, a new one unless the current user is anonymous.
        public func loginPublisher(options: API.Options = []) -> Future<AuthenticatedUser, ParseError> {
            Future { promise in login(options: options, completion: promise) }
        }

        /// Logs in as the anonymous user whose `id` is in `authData`.
        public func loginPublisher(authData: [String: String], options: API.Options = []) -> Future<
            AuthenticatedUser, ParseError
        > {
            Future { promise in login(authData: authData, options: options, completion: promise) }
        }

        /// Always fails: a user cannot be linked to an anonymous identity.
        public func linkPublisher(authData: [String: String], options: API.Options = []) -> Future<
            AuthenticatedUser, ParseError
        > {
            Future { promise in link(authData: authData, options: options, completion: promise) }
        }
    }
#endif
