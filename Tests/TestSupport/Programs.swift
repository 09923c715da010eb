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
        [ ar as awk base64 basename bash c++ cat cc chgrp chmod chown chromedriver chromium cmp column comm cp cpp curl
        cut dash date dbus-daemon dbus-launch dbus-monitor dbus-run-session dbus-send dd df diff dirname du echo env
        expr false file find fish flock g++ gcc gdbus getconf getent getopt gh git git-lfs git-receive-pack git-shell git-upload-archive
        git-upload-pack glab gnome-keyring-daemon gopass gpg gpg-agent gpgconf grep groups gzip head hostname id install jq keepassxc keepassxc-cli
        kill ld less ln locale ls mandoc md5sum mkdir mkfifo mktemp more mount mv newgidmap newuidmap nice nm nohup
        nproc objdump od openssl pass paste perl pgrep pkg-config pkill printenv printf ps pwd python3 ranlib readelf
        readlink realpath rm rmdir scp script secret-tool sed seq setfacl setpriv setsid sftp sh sha256sum shred sleep
        sort split ssh ssh-add ssh-agent ssh-keygen stat stdbuf strace strip stty sync systemctl tail tar tee test time
        timeout touch tput tr tree true truncate tsort tty umount uname uniq unshare unzip wc which whoami xargs xdotool xxd
        xz yes zbarimg zip zsh
        """.split(whereSeparator: \.isWhitespace)
}
