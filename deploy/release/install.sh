#!/bin/sh
# Installs drover @VERSION@ on Linux x86_64: the program, its manual and completions. Usage: sh drover-install.sh [PREFIX]
# PREFIX is /usr/local for root, else ~/.local. The archive must have the checksum that the release names.
# DROVER_RELEASE_URL names another place to download from.
set -eu

VERSION="@VERSION@"
URL="${DROVER_RELEASE_URL:-@RELEASES@}"

main() {
    [ "$(uname -sm)" = "Linux x86_64" ] || fail "there is no archive for $(uname -sm): build drover with cargo, as its README says"
    [ -n "$URL" ] || fail "this installer knows no address: set DROVER_RELEASE_URL to the directory with the release's files"
    prefix="${1:-}"
    [ -n "$prefix" ] || prefix=$(default_prefix)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    archive="drover-$VERSION-x86_64-linux.tar.gz"
    echo "drover $VERSION from $URL" >&2
    fetch "drover-$VERSION-SHA256SUMS"
    fetch "$archive"
    wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/drover-$VERSION-SHA256SUMS")
    [ -n "$wanted" ] || fail "the checksums do not name $archive"
    found=$(sha256sum "$work/$archive" | cut -d ' ' -f 1)
    [ "$found" = "$wanted" ] || fail "$archive has the checksum $found, and the release names $wanted: nothing was installed"
    tar -xzf "$work/$archive" -C "$work"
    put "$work/drover-$VERSION-x86_64-linux"
    echo "installed: $prefix/bin/drover ($("$prefix/bin/drover" --version))" >&2
    case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "add $prefix/bin to your PATH" >&2 ;; esac
}

default_prefix() {
    if [ "$(id -u)" = 0 ]; then echo /usr/local; else echo "$HOME/.local"; fi
}

# A running program keeps its file: the new one takes its name.
put() {
    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/drover" || fail "$prefix cannot be written to: name another directory"
    cp "$1/bin/drover" "$prefix/bin/.drover.new"
    chmod 755 "$prefix/bin/.drover.new"
    mv "$prefix/bin/.drover.new" "$prefix/bin/drover"
    cp "$1"/share/man/man1/* "$prefix/share/man/man1/"
    cp -R "$1/share/completions" "$1/share/systemd" "$prefix/share/drover/"
}

fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --max-time 600 --retry 2 --output "$work/$1" "$URL/$1" || fail "cannot download $URL/$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --timeout=60 --tries=3 --output-document "$work/$1" "$URL/$1" || fail "cannot download $URL/$1"
    else
        fail "neither curl nor wget was found: install one of them"
    fi
}

fail() {
    echo "drover-install: $*" >&2
    exit 1
}

main "$@"
