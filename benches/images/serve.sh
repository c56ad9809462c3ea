#!/bin/sh
# Requests a second of a hot variant beside nginx serving the same file, in one interleaved run; and /livez while 64 cold renders wait.
#
#   benches/images/serve.sh PROGRAM
#
# Needs nginx, wrk and curl. PROGRAM is a release build of drover; its private database and files live in a temporary directory.
set -eu

program=$(realpath "$1")
dir=$(mktemp -d)
chmod 755 "$dir"
port=18480
path=products/az/az-bench/brand/1/image-00000001.webp
ROUNDS=5

main() {
    mkdir -p "$dir/images/$(dirname "$path")" "$dir/www"
    picture > "$dir/images/$path"
    start_drover
    trap stop EXIT
    curl -sf "http://127.0.0.1:$port/img/$path?w=400" > "$dir/www/image.webp"
    start_nginx
    printf 'variant of %s bytes\n' "$(wc -c < "$dir/www/image.webp")"
    for round in $(seq $ROUNDS); do
        ours=$(rate "http://127.0.0.1:$port/img/$path?w=400")
        theirs=$(rate "http://127.0.0.1:$((port + 1))/image.webp")
        printf 'round %s: drover %s, nginx %s requests a second\n' "$round" "$ours" "$theirs"
        echo "$ours $theirs" >> "$dir/rounds"
    done
    awk '{ print $1 / $2 }' "$dir/rounds" | sort -n | awk '{ all[NR] = $1 } END { printf "median ratio %.2f (asked: at least 0.5)\n", all[int((NR + 1) / 2)] }'
    burst
}

# A stored image of 1200 x 1200, as the crate's example makes it of noise.
picture() {
    cat "${PICTURE:?set PICTURE to a WebP file of 1200 x 1200}"
}

start_drover() {
    env DROVER__API__LISTEN=127.0.0.1:$port DROVER__STORAGE__ROOT="$dir" "$program" api --dir "$dir/data" 2> "$dir/log" &
    drover=$!
    until curl -sf "http://127.0.0.1:$port/livez" > /dev/null; do
        kill -0 "$drover" || { cat "$dir/log" >&2; exit 1; }
        sleep 0.2
    done
}

start_nginx() {
    cat > "$dir/nginx.conf" <<CONF
worker_processes auto;
pid $dir/nginx.pid;
error_log $dir/nginx.log;
events {}
http {
  access_log off;
  sendfile on;
  keepalive_requests 1000000;
  types { image/webp webp; }
  server { listen 127.0.0.1:$((port + 1)); root $dir/www; }
}
CONF
    nginx -c "$dir/nginx.conf"
}

rate() {
    wrk --threads 1 --connections 16 --duration 3s "$1" | awk '/Requests\/sec/ { print $2 }'
}

# 64 sizes that nobody has asked for, and how long /livez takes meanwhile.
burst() {
    for size in $(seq 101 164); do
        curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$port/img/$path?w=$size&h=$size&fit=fill&enlarge=1" >> "$dir/codes" &
    done
    for _ in $(seq 100); do
        curl -s -o /dev/null -w '%{time_total}\n' "http://127.0.0.1:$port/livez" >> "$dir/livez"
    done
    wait_for_codes
    printf '64 cold renders: '
    sort "$dir/codes" | uniq -c | awk '{ printf "%s x %s ", $1, $2 }'
    sort -n "$dir/livez" | awk '{ all[NR] = $1 } END { printf "/livez p99 %.3f s (asked: at most 1 s)\n", all[int(NR * 0.99)] }'
    awk '/VmHWM/ { printf "peak memory %d MiB\n", $2 / 1024 }' "/proc/$drover/status"
}

wait_for_codes() {
    for _ in $(seq 300); do
        [ "$(wc -l < "$dir/codes")" -ge 64 ] && return
        sleep 0.1
    done
}

stop() {
    kill "$drover" 2>/dev/null || true
    [ -f "$dir/nginx.pid" ] && kill "$(cat "$dir/nginx.pid")" || true
    wait "$drover" 2>/dev/null || true
    "$program" db stop --dir "$dir/data" > /dev/null 2>&1 || true
    rm -rf "$dir"
}

main
