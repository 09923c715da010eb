import Foundation

/// The system's programs that tests find in `PATH`: the ones that they need, whatever else is installed.
package enum Programs {
    /// The folder with links to them.
    package static let folder: String = {
        let folder = Built.folder + "/programs"
        mkdir(folder, 0o755)
        // Other processes may make them at the same time.
        for name in names { symlink("/usr/bin/\(name)", "\(folder)/\(name)") }
        return folder
    }()

    private static let names = """
        [ as awk base64 basename bash cat cc chgrp chmod chown chromium chromedriver cmp column comm cp curl cut dash date
        dbus-daemon dbus-launch dbus-monitor dbus-run-session dbus-send dd df diff dirname du echo env expr false file find
        fish flock gcc gdbus getconf getent git git-receive-pack git-shell git-upload-archive git-upload-pack
        gnome-keyring-daemon gpg grep groups gzip head hostname id install jq keepassxc keepassxc-cli kill ld less ln locale
        ls mandoc md5sum mkdir mkfifo mktemp more mount mv nice nm nohup nproc od openssl paste perl pgrep pkill printenv printf
        ps pwd python3 readlink realpath rm rmdir scp script secret-tool sed seq setfacl setpriv setsid sftp sh sha256sum
        shred sleep sort split ssh ssh-add ssh-agent ssh-keygen stat stdbuf strace stty sync systemctl tail tar tee test time timeout
        touch tput tr true truncate tsort tty umount uname uniq unshare wc which whoami xargs xdotool xz yes zbarimg zsh
        """.split(whereSeparator: \.isWhitespace)
}
