#!/bin/sh
# Installs glassbox from a release folder: the binary for this machine, after its checksum has been compared.
#
#   ./install.sh                        from the folder that this script lies in, into ~/.local/bin
#   ./install.sh --from FOLDER_OR_URL   from another folder, or from an address that holds the same files
#   ./install.sh --to FOLDER            into another folder
#
# Nothing is installed unless SHA256SUMS lists the file and the checksum is right.
set -eu

fail() { echo "install.sh: $*" >&2; exit 1; }

from=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
to="${HOME:-}/.local/bin"
while [ $# -gt 0 ]; do
  case "$1" in
    --from) [ $# -ge 2 ] || fail "--from: wanted a folder or an address"; from=$2; shift 2 ;;
    --to) [ $# -ge 2 ] || fail "--to: wanted a folder"; to=$2; shift 2 ;;
    -h|--help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "install.sh: $1: wanted --from FOLDER_OR_URL or --to FOLDER" >&2; exit 2 ;;
  esac
done
[ -n "$to" ] && [ "$to" != /.local/bin ] || fail "HOME is not set: name a folder with --to"

os=${GLASSBOX_OS:-$(uname -s)}
arch=${GLASSBOX_ARCH:-$(uname -m)}
case "$os" in
  Linux|linux) os=linux ;;
  Darwin|darwin) os=darwin ;;
  MINGW*|MSYS*|CYGWIN*|windows) os=windows ;;
  *) fail "there is no binary for the system $os: build it with go build ./cmd/glassbox" ;;
esac
case "$arch" in
  x86_64|amd64) arch=amd64 ;;
  aarch64|arm64) arch=arm64 ;;
  *) fail "there is no binary for the processor $arch: build it with go build ./cmd/glassbox" ;;
esac
name=glassbox-$os-$arch
out=glassbox
if [ "$os" = windows ]; then name=$name.exe; out=glassbox.exe; fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

get() { # NAME: fetch it from the folder or address into $tmp
  case "$from" in
    http://*|https://*)
      if command -v curl >/dev/null; then curl -fsSL -o "$tmp/$1" "${from%/}/$1" || fail "$from/$1 could not be fetched"
      elif command -v wget >/dev/null; then wget -qO "$tmp/$1" "${from%/}/$1" || fail "$from/$1 could not be fetched"
      else fail "neither curl nor wget is here: fetch the release's files by hand and use --from FOLDER"; fi ;;
    *) [ -f "$from/$1" ] || fail "$from/$1 is not there: wanted a release folder"; cp "$from/$1" "$tmp/$1" ;;
  esac
}

get SHA256SUMS
get "$name"

want=$(awk -v f="$name" '$2 == f || $2 == "*" f { print $1 }' "$tmp/SHA256SUMS")
case "$want" in
  "") fail "SHA256SUMS does not list $name" ;;
  *[!0-9a-f]*) fail "SHA256SUMS: the line of $name is no checksum, or there are two" ;;
esac
if command -v sha256sum >/dev/null; then found=$(sha256sum <"$tmp/$name")
elif command -v shasum >/dev/null; then found=$(shasum -a 256 <"$tmp/$name")
else fail "neither sha256sum nor shasum is here, so $name cannot be checked"; fi
found=${found%% *}
[ "$found" = "$want" ] || fail "$name is damaged: its SHA-256 is $found, wanted $want; nothing was installed"

mkdir -p "$to"
chmod 755 "$tmp/$name"
# Beside its place first: a rename is whole or nothing, also while the old one runs.
cp "$tmp/$name" "$to/.$out.new" && mv -f "$to/.$out.new" "$to/$out" || fail "$to/$out could not be written"
echo "installed $to/$out"
case ":${PATH:-}:" in *":$to:"*) ;; *) echo "$to is not in PATH; run it as $to/$out" ;; esac
