package io.verbena.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checks of {@code verbena doctor}, each of one property of a machine. Stateless. */
final class MachineChecks
{
    /** As in the units of deploy/systemd. */
    static final long OPEN_FILES = 65_536;
    /** A node with few clients needs less than this. */
    static final long FEW_OPEN_FILES = 1_024;
    static final int JAVA = 25;
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;
    /** Kept free beside the records, for the processes themselves: 512 MiB. */
    private static final long PROCESS_BYTES = 512 * MIB;
    /** What the fabric roce asks for: 8 MiB. */
    private static final long UDP_BUFFER_BYTES = 8 * MIB;
    private static final int SWAPPINESS = 10;
    private static final int HEX = 16;
    private static final String LISTENS = "0A";
    /** Read without a system call. */
    private static final Set<String> FAST_CLOCKS =
        Set.of("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page");

    private MachineChecks()
    {
    }

    /** @return what each found, in the order to show it. */
    static List<Finding> of(final Machine machine)
    {
        return Stream.<Function<Machine, Finding>>of(MachineChecks::java, MachineChecks::processors,
            MachineChecks::quota, MachineChecks::numa, MachineChecks::openFiles, MachineChecks::sharedMemory,
            MachineChecks::memory, MachineChecks::memoryLimit, MachineChecks::swap, MachineChecks::hugePages,
            MachineChecks::lockedMemory, MachineChecks::clock, MachineChecks::port,
            MachineChecks::udpBuffers, MachineChecks::rdmaDevices)
            .map((check) -> check.apply(machine)).toList();
    }

    private static String bytes(final long bytes)
    {
        return bytes == Long.MAX_VALUE ? "unlimited" : bytes >= 10 * GIB ?
            String.format(Locale.ROOT, "%,d GiB", bytes / GIB) : String.format(Locale.ROOT, "%,d MiB", bytes / MIB);
    }

    private static Finding java(final Machine machine)
    {
        final String value = "Java " + machine.javaVersion();
        return machine.javaVersion() >= JAVA ? Finding.ok("java", value) : Finding.error("java", value,
            "set JAVA_HOME to a JDK " + JAVA + " or newer");
    }

    private static Finding processors(final Machine machine)
    {
        final String value = machine.processors() + " processors";
        return machine.processors() >= 2 ? Finding.ok("processors", value) : Finding.warning("processors", value,
            "give it 2 or more: a node and a client that poll take turns on one, and wait for each other");
    }

    /** Of the control group, version 2 or 1. */
    private static Finding quota(final Machine machine)
    {
        final String[] unified = machine.text("sys/fs/cgroup/cpu.max").split(" ");
        final long quota = unified.length == 2 ? Machine.number(unified[0], -1) :
            machine.number("sys/fs/cgroup/cpu/cpu.cfs_quota_us");
        final long period = unified.length == 2 ? Machine.number(unified[1], -1) :
            machine.number("sys/fs/cgroup/cpu/cpu.cfs_period_us");
        if (quota <= 0 || period <= 0)
        {
            return Finding.ok("processor quota", "none");
        }
        final double share = (double)quota / period;
        final String value = String.format(Locale.ROOT, "%.1f processors", share);
        return share >= 1 ? Finding.ok("processor quota", value) : Finding.warning("processor quota", value,
            "raise it to 1 or more: a node that used its share stands still for up to " + period / 1_000 +
                " ms, in the middle of an operation");
    }

    private static Finding numa(final Machine machine)
    {
        final List<String> nodes = machine.names("sys/devices/system/node").stream()
            .filter((name) -> name.matches("node[0-9]+")).toList();
        return nodes.size() < 2 ? Finding.ok("NUMA", "one node") : Finding.warning("NUMA", nodes.size() + " nodes",
            "bind each process to one: numactl --cpunodebind=N --membind=N ./verbena ...; the memory node to that of " +
                "its RNIC");
    }

    private static Finding openFiles(final Machine machine)
    {
        final long limit = machine.limit("Max open files");
        final String value = limit < 0 ? "not known" : limit == Long.MAX_VALUE ? "unlimited" :
            String.format(Locale.ROOT, "%,d", limit);
        final String advice = "ulimit -n " + OPEN_FILES + ", or LimitNOFILE=" + OPEN_FILES + " in the unit";
        return limit >= OPEN_FILES || limit < 0 ? Finding.ok("open files", value) : limit < FEW_OPEN_FILES ?
            Finding.error("open files", value, advice) : Finding.warning("open files", value, advice +
            ", before there are thousands of clients");
    }

    /** Where the fabric soft has all memory of a host. */
    private static Finding sharedMemory(final Machine machine)
    {
        final long free = machine.freeBytes("dev/shm");
        if (free < 0)
        {
            return Finding.error("/dev/shm", "not there", "mount it: mount -t tmpfs -o size=" +
                (machine.memoryBytes() / MIB + 64) + "m tmpfs /dev/shm, or name another folder: --fabric soft:DIR");
        }
        final String value = bytes(free) + " free";
        return free >= machine.memoryBytes() ? Finding.ok("/dev/shm", value) : Finding.error("/dev/shm", value,
            "memory nodes are to have " + bytes(machine.memoryBytes()) + ": mount -o remount,size=" +
                (machine.memoryBytes() / MIB + 64) + "m /dev/shm, or in a container --shm-size");
    }

    private static Finding memory(final Machine machine)
    {
        final long available = machine.memoryFigureBytes("MemAvailable");
        if (available < 0)
        {
            return Finding.warning("memory", "not known", "proc/meminfo cannot be read: is /proc mounted?");
        }
        final String value = bytes(available) + " available";
        return available >= machine.memoryBytes() + PROCESS_BYTES ? Finding.ok("memory", value) :
            Finding.error("memory", value, "memory nodes are to have " + bytes(machine.memoryBytes()) +
                ", and processes need " + bytes(PROCESS_BYTES) + " besides: give them less (--memory), or add memory");
    }

    /** Of the control group, version 2 or 1; pages of shared memory count. */
    private static Finding memoryLimit(final Machine machine)
    {
        final String unified = machine.text("sys/fs/cgroup/memory.max");
        final long limit = unified.isEmpty() ? machine.number("sys/fs/cgroup/memory/memory.limit_in_bytes") :
            Machine.number(unified, -1);
        // Version 1 says "none" by a number near the largest.
        if (limit < 0 || limit > Long.MAX_VALUE / 2)
        {
            return Finding.ok("memory limit", "none");
        }
        return limit >= machine.memoryBytes() + PROCESS_BYTES ? Finding.ok("memory limit", bytes(limit)) :
            Finding.error("memory limit", bytes(limit), "the kernel kills processes beyond it, and memory nodes are " +
                "to have " + bytes(machine.memoryBytes()) + ": raise it, or give them less (--memory)");
    }

    private static Finding swap(final Machine machine)
    {
        final long swap = machine.memoryFigureBytes("SwapTotal");
        final long swappiness = machine.number("proc/sys/vm/swappiness");
        final String value = swap <= 0 ? "none" : bytes(swap) + ", swappiness " + swappiness;
        return swap <= 0 || swappiness <= SWAPPINESS ? Finding.ok("swap", value) : Finding.warning("swap", value,
            "sysctl vm.swappiness=1: a node whose pages are read back stands still, and may lose its lease");
    }

    private static Finding hugePages(final Machine machine)
    {
        final String state = machine.text("sys/kernel/mm/transparent_hugepage/enabled");
        final String value = state.replaceAll(".*\\[(.*)].*", "$1");
        if (machine.memoryBytes() < GIB)
        {
            return Finding.ok("huge pages", (value.isEmpty() ? "none" : value) + "; they matter from 1 GiB on");
        }
        final boolean isMounted = machine.text("proc/self/mounts").lines()
            .anyMatch((line) -> line.contains(" tmpfs ") && line.matches(".*[ ,]huge=(advise|always|within_size).*"));
        return isMounted ? Finding.ok("huge pages", "a tmpfs has them") : Finding.warning("huge pages",
            "no tmpfs has them", "mount -t tmpfs -o huge=advise,mode=1777 tmpfs /mnt/huge, and --fabric " +
                "soft:/mnt/huge/fabric,huge-pages");
    }

    private static Finding lockedMemory(final Machine machine)
    {
        final long limit = machine.limit("Max locked memory");
        final String value = limit < 0 ? "not known" : bytes(limit);
        final boolean isNeeded = !machine.names("sys/class/infiniband").isEmpty();
        return !isNeeded ? Finding.ok("locked memory", value + "; it matters on RDMA devices only") :
            limit < 0 || limit >= machine.memoryBytes() + PROCESS_BYTES ? Finding.ok("locked memory", value) :
            Finding.error("locked memory", value, "memory that an RDMA device reaches is locked: ulimit -l " +
                "unlimited, or LimitMEMLOCK=infinity in the unit");
    }

    private static Finding clock(final Machine machine)
    {
        final String folder = "sys/devices/system/clocksource/clocksource0/";
        final String source = machine.text(folder + "current_clocksource");
        if (source.isEmpty() || FAST_CLOCKS.contains(source))
        {
            return Finding.ok("clock", source.isEmpty() ? "not known" : source);
        }
        final String better = Stream.of(machine.text(folder + "available_clocksource").split(" "))
            .filter(FAST_CLOCKS::contains).findFirst().orElse("");
        return Finding.warning("clock", source, "each reading of it is a system call, and an operation reads it " +
            "several times: " + (better.isEmpty() ? "no better one is available; the kernel's log says why" :
            "echo " + better + " > /" + folder + "current_clocksource"));
    }

    private static Finding port(final Machine machine)
    {
        final boolean isTaken = Stream.of("proc/net/tcp", "proc/net/tcp6").flatMap((file) ->
            machine.text(file).lines()).anyMatch((line) -> isListening(line, machine.port()));
        return !isTaken ? Finding.ok("port", machine.port() + " is free") : Finding.warning("port",
            machine.port() + " is taken", "a meta server cannot listen there: --listen with another port, or 0");
    }

    /** Whether a line of {@code /proc/net/tcp} is a socket that listens at a port. */
    private static boolean isListening(final String line, final int port)
    {
        final String[] fields = line.strip().split(" +");
        if (fields.length < 4 || !LISTENS.equals(fields[3]))
        {
            return false;
        }
        final String address = fields[1];
        return port == Integer.parseInt(address.substring(address.indexOf(':') + 1), HEX);
    }

    private static Finding udpBuffers(final Machine machine)
    {
        final long most = machine.number("proc/sys/net/core/rmem_max");
        final String value = most < 0 ? "not known" : String.format(Locale.ROOT, "%,d bytes", most);
        return most < 0 || most >= UDP_BUFFER_BYTES ? Finding.ok("UDP buffers", value) : Finding.warning("UDP buffers",
            value, "sysctl net.core.rmem_max=" + UDP_BUFFER_BYTES +
                ": the fabric roce, between hosts, loses packets that find no room, and sends them again");
    }

    private static Finding rdmaDevices(final Machine machine)
    {
        final List<String> active = new ArrayList<>();
        final List<String> down = new ArrayList<>();
        for (final String device : machine.names("sys/class/infiniband"))
        {
            for (final String port : machine.names("sys/class/infiniband/" + device + "/ports"))
            {
                final boolean isActive = machine.text("sys/class/infiniband/" + device + "/ports/" + port + "/state")
                    .contains("ACTIVE");
                (isActive ? active : down).add(device + " port " + port);
            }
        }
        final String kernel = "; kernel " + machine.text("proc/sys/kernel/osrelease");
        if (!down.isEmpty())
        {
            return Finding.warning("RDMA devices", String.join(", ", down) + " is down" + kernel,
                "see to its cable and its network interface: rdma link show, ip link set INTERFACE up");
        }
        return Finding.ok("RDMA devices", (active.isEmpty() ? "none: fabrics soft and roce need none" :
            active.stream().collect(Collectors.joining(", "))) + kernel);
    }
}
