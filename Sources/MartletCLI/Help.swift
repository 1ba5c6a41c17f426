/// What `--help` prints.
enum Help {
    static let general = """
        martlet: a Parse-compatible backend in one binary.

        Usage: martlet COMMAND [FLAGS]

          serve      start the server
          app        make, list, show, delete, export and import apps, replace their master keys
          version    print the version

        martlet COMMAND --help tells more of a command.

        """

    static let serve = """
        Starts the server.

        Usage: martlet serve [FLAGS]

          --data DIR            the data folder (default MARTLET_DATA, else ./martlet-data)
          --database URL        postgres://… instead of the folder, for any number of processes; files stay in the folder
          --host ADDRESS        where to listen (default 127.0.0.1; 0.0.0.0 for every interface)
          --port NUMBER         the port (default 1337; 0 for a free one)
          --config FILE         options as JSON, see docs/configuration.md
          --log-level LEVEL     debug, info, warning or error (default info)

        One app by flags instead of the folder's own:

          --app-id ID           its application id
          --master-key KEY      its master key
          --client-key KEY      its client key
          --rest-key KEY        its REST key
          --javascript-key KEY  its JavaScript key

        Environment variables of parse-server (PARSE_SERVER_APPLICATION_ID, PARSE_SERVER_MASTER_KEY, …) work
        too, and keep keys out of the process list. A flag beats a variable, a variable beats the file.

        """

    static let app = """
        Makes, lists, shows, deletes, exports and imports apps, and replaces their master keys; also while the
        server runs.

        Usage: martlet app create NAME [--json]
               martlet app list [--json]
               martlet app show ID [--json]
               martlet app rotate-master-key ID [--json]
               martlet app delete ID [--yes]
               martlet app export ID FILE
               martlet app import FILE

          --data DIR   the data folder of the server (default MARTLET_DATA, else ./martlet-data)
          --database URL
                       the server's database instead of the folder
          --json       print JSON
          --yes        do not ask on the terminal before an app and all its data are deleted; a script is
                       never asked

        A running server knows of a change within a second.

        A master key is shown once, when it is made. An export holds all of an app as JSON lines, its keys,
        password hashes and uploaded files included; an import makes the same app elsewhere. FILE may be - for
        standard output or input. Uploaded files are in the data folder, also with --database.

        """
}
