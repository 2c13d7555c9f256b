# Sourced by guest: makes $cache/tree, a root of Debian packages with QEMU, kernel and verbs libraries, and its
# initramfs.
# shellcheck shell=bash disable=SC2154 # the variables of guest

readonly PACKAGES=(qemu-system-x86 busybox-static kmod iproute2 ibverbs-providers ibverbs-utils libibverbs-dev
    rdmacm-utils perftest)
# Wanted by the above only to install or start a whole system. libudev1 and libsystemd0 come with newer siblings of
# these; the installed ones serve.
readonly UNWANTED='^(systemd.*|lib(nss|pam)-systemd|libsystemd.*|libudev1|udev|initramfs-tools.*|linux-base|klibc-utils|
    |libklibc|cpio|libnl-.*-dev|pci\.ids|ipxe-qemu)$'
# Of the kernel's modules (400 MB) what the guest loads, and what these depend on.
readonly KERNEL_PARTS=(./boot/vmlinuz-* './lib/modules/*/modules.*' './lib/modules/*/kernel/arch/*'
    './lib/modules/*/kernel/crypto/*' './lib/modules/*/kernel/lib/*' './lib/modules/*/kernel/fs/9p/*'
    './lib/modules/*/kernel/fs/netfs/*' './lib/modules/*/kernel/fs/fscache/*' './lib/modules/*/kernel/fs/configfs/*'
    './lib/modules/*/kernel/fs/overlayfs/*' './lib/modules/*/kernel/net/*'
    './lib/modules/*/kernel/drivers/infiniband/*' './lib/modules/*/kernel/drivers/virtio/*'
    './lib/modules/*/kernel/drivers/char/*' './lib/modules/*/kernel/drivers/net/*.ko')

# What the tree was made from; another content makes another tree.
recipe()
{
    cat -- "$here/prepare.sh" "$here/initramfs-init" | cksum
}

prepare()
{
    local missing
    is_prepared && return
    [[ -z $no_download ]] ||
        fail "$MISSING" 'the guest is not prepared: run ./verbena dev guest --prepare, which downloads it'
    [[ $(uname -sm) == 'Linux x86_64' ]] ||
        fail "$MISSING" "the guest is made for Linux on x86-64, this is $(uname -sm)"
    for missing in apt-get apt-cache dpkg-deb tar gzip cksum flock mkfifo timeout; do
        type -P "$missing" > /dev/null ||
            fail "$MISSING" "the guest is made of Debian packages and there is no $missing: use Debian 12 or newer"
    done
    mkdir -p "$cache" 2> /dev/null && { exec 8> "$cache/lock"; } 2> /dev/null ||
        fail 73 "cannot write to $cache, where the guest goes (VERBENA_GUEST_CACHE names another folder)"
    flock -n 8 || { say 'another start is preparing the guest: waiting for it'; flock 8; }
    if ! is_prepared; then
        say "preparing the guest in $cache (log: $cache/prepare.log)"
        : > "$cache/prepare.log"
        download
        unpack
        make_initramfs
        recipe > "$tree/made-from"
        rm -rf -- "$cache/apt"
        say "prepared in $SECONDS s"
    fi
    exec 8>&-
}

is_prepared()
{
    [[ -s $tree/made-from && $(< "$tree/made-from") == "$(recipe)" ]]
}

# apt-get with lists and archives of its own, and the machine's record of what is installed: works without privileges.
apt()
{
    local -r tool=$1
    shift
    "$tool" -o "Dir::State::lists=$cache/apt/lists" -o "Dir::Cache=$cache/apt/cache" -o Debug::NoLocking=1 \
        -o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=1 -o Acquire::http::Timeout=10 \
        -o Acquire::Languages=none "$@" 2>> "$cache/prepare.log"
}

logged()
{
    "$@" >> "$cache/prepare.log" 2>&1
}

download()
{
    local kernel
    mkdir -p "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial" "$cache/apt/debs"
    logged apt apt-get -q update ||
        fail "$MISSING" "the guest needs Debian packages and their lists cannot be fetched (log: $cache/prepare.log)"
    kernel=$(apt apt-cache depends linux-image-amd64 | awk '/Depends/ { print $2; exit }')
    [[ -n $kernel ]] ||
        fail "$MISSING" "this system's packages have no kernel linux-image-amd64: use Debian 12 or newer"
    wanted "$kernel" > "$cache/apt/wanted"
    [[ -s $cache/apt/wanted ]] ||
        fail "$MISSING" "this system's packages lack something of: ${PACKAGES[*]} (log: $cache/prepare.log)"
    # The kernel and busybox are needed as files even where they are installed.
    printf '%s\n' "$kernel" busybox-static | cat - "$cache/apt/wanted" | sort -u > "$cache/apt/all"
    (cd "$cache/apt/debs" && logged apt apt-get -q download $(< "$cache/apt/all")) ||
        fail "$MISSING" "the guest's Debian packages cannot be downloaded (log: $cache/prepare.log)"
}

# Names of the packages to download: those asked for and what they depend on, as far as this machine has not got them.
wanted()
{
    local -r kernel=$1
    apt apt-get -y -q --no-install-recommends --print-uris install "${PACKAGES[@]}" "$kernel" |
        sed -n "s/^'.*' \([^_ ]*\)_[^ ]*\.deb .*/\1/p" | grep -Evx "${UNWANTED//[[:space:]]/}" || true
}

unpack()
{
    local deb link
    rm -rf -- "$tree"
    mkdir -p "$tree"/usr/{bin,sbin,lib,lib64}
    # Debian's folders since the merge of / and /usr; older packages still name the former ones.
    for link in bin sbin lib lib64; do ln -s "usr/$link" "$tree/$link"; done
    for deb in "$cache"/apt/debs/*.deb; do
        case ${deb##*/} in
            linux-image-*)
                dpkg-deb --fsys-tarfile "$deb" |
                    logged tar -x -C "$tree" --keep-directory-symlink --wildcards "${KERNEL_PARTS[@]}" ;;
            *)
                dpkg-deb --fsys-tarfile "$deb" |
                    logged tar -x -C "$tree" --keep-directory-symlink --exclude='./usr/share/doc/*' \
                        --exclude='./usr/share/man/*' ;;
        esac || fail "$BROKEN" "cannot unpack ${deb##*/} (log: $cache/prepare.log)"
    done
    set -- "$tree"/usr/lib/modules/*
    printf '%s\n' "${1##*/}" > "$tree/kernel-version"
    run_kmod depmod -b "$tree" "${1##*/}" || fail "$BROKEN" "depmod failed (log: $cache/prepare.log)"
}

# The packages' links to kmod are absolute: call it by the name wanted.
run_kmod()
{
    local -r name=$1
    shift
    (
        export LD_LIBRARY_PATH=$tree/usr/lib/x86_64-linux-gnu
        exec -a "$name" "$(tool kmod)" "$@"
    ) 2>> "$cache/prepare.log"
}

# busybox and the modules needed to mount the shares; initramfs-init does that.
make_initramfs()
{
    local -r folder=$tree/initramfs version=$(< "$tree/kernel-version")
    local module file
    mkdir -p "$folder"/{bin,proc,sys,dev,modules}
    cp "$tree/usr/bin/busybox" "$folder/bin/busybox"
    cp "$here/initramfs-init" "$folder/init"
    chmod +x "$folder/init"
    for module in virtio_pci 9pnet_virtio 9p overlay; do
        run_kmod modprobe -d "$tree" -S "$version" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++' | while IFS= read -r file; do
        cp "$file" "$folder/modules/"
        printf '%s\n' "${file##*/}" >> "$folder/modules/list"
    done
    [[ -s $folder/modules/list ]] || fail "$BROKEN" "the kernel's modules are not as expected (log: $cache/prepare.log)"
    (cd "$folder" && find . | bin/busybox cpio -o -H newc 2>> "$cache/prepare.log" | gzip -1) > "$tree/initramfs.gz"
    rm -rf -- "$folder"
}
