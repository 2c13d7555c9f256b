package io.verbena.cli.doctor;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.doctor.Finding.Level;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** A machine that is fit, and one for each fault: each check sees its own, and no other one does. */
class DoctorCommandTest
{
    private static final long MIB = 1 << 20;

    @TempDir
    private Path root;

    @BeforeEach
    void makeAFitMachine() throws IOException
    {
        write("proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n" +
            "Max open files            65536                65536                files     \n" +
            "Max locked memory         unlimited            unlimited            bytes     \n");
        write("proc/meminfo",
            "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\nSwapTotal:             0 kB\n");
        write("proc/sys/vm/swappiness", "60\n");
        write("proc/sys/kernel/osrelease", "6.1.0\n");
        write("proc/sys/net/core/rmem_max", "8388608\n");
        write("proc/self/mounts", "tmpfs /dev/shm tmpfs rw,nosuid 0 0\n");
        write("proc/net/tcp", "  sl  local_address rem_address   st\n" +
            "   0: 0100007F:1CCE 00000000:0000 0A 0\n" + "   1: 0100007F:1CCD 0100007F:0050 01 0\n");
        write("sys/devices/system/node/node0/cpulist", "0-3\n");
        write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        write("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n");
        write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        write("sys/fs/cgroup/cpu.max", "max 100000\n");
        write("sys/fs/cgroup/memory.max", "max\n");
        write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
        Files.createDirectories(root.resolve("dev/shm"));
    }

    private void write(final String file, final String text) throws IOException
    {
        final Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void replace(final String file, final String from, final String to) throws IOException
    {
        final String text = Files.readString(root.resolve(file));
        assertThat(text).contains(from);
        write(file, text.replace(from, to));
    }

    private List<Finding> findings(final int processors, final int java, final long memoryMib, final int port)
    {
        return MachineChecks.of(new Machine(root, processors, java, memoryMib * MIB, port));
    }

    /** Only this check complains, as bad as this, and says this. */
    private void assertOnly(final List<Finding> findings, final String check, final Level level, final String advice)
    {
        assertThat(findings).hasSize(15).allSatisfy((finding) ->
        {
            if (finding.check().equals(check))
            {
                assertThat(finding.level()).as("%s", finding).isEqualTo(level);
                assertThat(finding.advice()).contains(advice);
            }
            else
            {
                assertThat(finding.level()).as("%s", finding).isEqualTo(Level.OK);
                assertThat(finding.advice()).isEmpty();
            }
            assertThat(finding.value()).isNotEmpty().doesNotContain("\n");
        });
    }

    @Test
    void shouldFindNothingWrongWithAFitMachine()
    {
        assertThat(findings(2, 25, 4, 7_373)).extracting(Finding::level).containsOnly(Level.OK);
    }

    @Test
    void shouldFindAPortThatIsDownBesideOneThatIsNot() throws IOException
    {
        write("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
        assertOnly(findings(2, 25, 4, 7_373), "RDMA devices", Level.WARNING, "rdma link show");
    }

    /** As much as the memory node, 4 MiB, and 512 MiB for the process itself. */
    @Test
    void shouldAcceptALimitOfLockedMemoryThatIsJustEnough() throws IOException
    {
        replace("proc/self/limits", "memory         unlimited", "memory         541065216");
        assertThat(findings(2, 25, 4, 7_373)).extracting(Finding::level).containsOnly(Level.OK);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        proc/self/limits | files            65536 | files            20000 | open files | WARNING | ulimit -n 65536
        proc/self/limits | files            65536 | files            1023  | open files | ERROR | LimitNOFILE=65536
        proc/self/limits | memory         unlimited | memory         65536 | locked memory | ERROR | ulimit -l unlimited
        proc/self/limits | memory         unlimited | memory     541065215 | locked memory | ERROR | ulimit -l unlimited
        proc/meminfo | 8000000 kB | 500000 kB | memory | ERROR | processes need 512 MiB besides
        proc/meminfo | MemAvailable | Other | memory | WARNING | is /proc mounted?
        proc/meminfo | SwapTotal:             0 | SwapTotal: 1000 | swap | WARNING | sysctl vm.swappiness=1
        proc/net/tcp | 0100007F:1CCE | 00000000:1CCD | port | WARNING | --listen with another port
        proc/sys/net/core/rmem_max | 8388608 | 8388607 | UDP buffers | WARNING | sysctl net.core.rmem_max=8388608
        sys/devices/system/clocksource/clocksource0/current_clocksource | tsc | hpet | clock | WARNING | echo tsc >
        sys/fs/cgroup/cpu.max | max | 99999 | processor quota | WARNING | stands still for up to 100 ms
        sys/fs/cgroup/memory.max | max | 500000000 | memory limit | ERROR | the kernel kills processes beyond it
        sys/class/infiniband/mlx5_0/ports/1/state | 4: ACTIVE | 1: DOWN | RDMA devices | WARNING | rdma link show
        """)
    void shouldSeeAFault(
        final String file, final String from, final String to, final String check, final Level level,
        final String advice) throws IOException
    {
        replace(file, from, to);
        assertOnly(findings(2, 25, 4, 7_373), check, level, advice);
    }

    @Test
    void shouldSeeTheLimitsOfTheOlderControlGroups() throws IOException
    {
        Files.delete(root.resolve("sys/fs/cgroup/cpu.max"));
        Files.delete(root.resolve("sys/fs/cgroup/memory.max"));
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assertThat(findings(2, 25, 4, 7_373)).extracting(Finding::level).containsOnly(Level.OK);

        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
        assertOnly(findings(2, 25, 4, 7_373), "processor quota", Level.WARNING, "raise it to 1 or more");
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
        assertOnly(findings(2, 25, 4, 7_373), "memory limit", Level.ERROR, "raise it");
    }

    @Test
    void shouldSeeWhatTheJvmIsAndHowManyProcessorsThereAre() throws IOException
    {
        assertOnly(findings(1, 25, 4, 7_373), "processors", Level.WARNING, "2 or more");
        assertOnly(findings(2, 24, 4, 7_373), "java", Level.ERROR, "JDK 25");
        write("sys/devices/system/node/node1/cpulist", "4-7\n");
        assertOnly(findings(2, 25, 4, 7_373), "NUMA", Level.WARNING, "numactl");
    }

    /** A second read of such a file finds its end, whatever the first one left. */
    @Test
    void shouldReadWholeNumbersOfTheKernel()
    {
        assertThat(new Machine(Path.of("/"), 2, 25, 0, 7_373).number("proc/sys/kernel/pid_max")).isGreaterThan(300);
    }

    @Test
    void shouldLookAtTheRightPort() throws IOException
    {
        assertOnly(findings(2, 25, 4, 0x1CCE), "port", Level.WARNING, "--listen");
        write("proc/net/tcp6", "  sl  local_address rem_address   st\n" +
            "   0: 00000000000000000000000000000000:1CCD 00000000000000000000000000000000:0000 0A 0\n");
        assertOnly(findings(2, 25, 4, 7_373), "port", Level.WARNING, "--listen");
    }

    @Test
    void shouldSeeThatMemoryNodesHaveNoRoom() throws IOException
    {
        write("proc/meminfo", "MemAvailable: 9000000000000000 kB\nSwapTotal: 0 kB\n");
        write("proc/self/mounts", "tmpfs /mnt/huge tmpfs rw,huge=advise 0 0\n");
        assertOnly(findings(2, 25, 1L << 40, 7_373), "/dev/shm", Level.ERROR, "mount -o remount,size=");
        Files.delete(root.resolve("dev/shm"));
        assertOnly(findings(2, 25, 4, 7_373), "/dev/shm", Level.ERROR, "mount -t tmpfs -o size=68m tmpfs /dev/shm");
    }

    @Test
    void shouldAskForHugePagesFromAGibibyteOn() throws IOException
    {
        assertOnly(findings(2, 25, 1_024, 7_373), "huge pages", Level.WARNING, "huge=advise");
        write("proc/self/mounts", "tmpfs /mnt/huge tmpfs rw,huge=advise 0 0\n");
        assertThat(findings(2, 25, 1_024, 7_373)).extracting(Finding::level).containsOnly(Level.OK);
        write("proc/self/mounts", "tmpfs /mnt/huge tmpfs rw,huge=never 0 0\n");
        assertOnly(findings(2, 25, 1_024, 7_373), "huge pages", Level.WARNING, "huge=advise");
    }

    /** Locked memory is of interest to RDMA devices only; a kernel without these files is no fault. */
    @Test
    void shouldNotComplainOfWhatIsNotThere() throws IOException
    {
        replace("proc/self/limits", "memory         unlimited", "memory         65536");
        Files.delete(root.resolve("sys/class/infiniband/mlx5_0/ports/1/state"));
        Files.delete(root.resolve("sys/class/infiniband/mlx5_0/ports/1"));
        Files.delete(root.resolve("sys/class/infiniband/mlx5_0/ports"));
        Files.delete(root.resolve("sys/class/infiniband/mlx5_0"));
        for (final String file : List.of("proc/sys/net/core/rmem_max", "proc/net/tcp", "sys/fs/cgroup/cpu.max",
            "sys/devices/system/clocksource/clocksource0/current_clocksource", "proc/self/mounts"))
        {
            Files.delete(root.resolve(file));
        }
        assertThat(findings(2, 25, 4, 7_373)).extracting(Finding::level).containsOnly(Level.OK);
    }

    @Test
    void shouldSayItAsTextAndAsJson() throws IOException
    {
        final CommandLines.Result fit = CommandLines.run(List.of("doctor", "--root", root.toString(), "--memory", "4"));
        assertThat(fit.status()).as(fit.err()).isZero();
        assertThat(fit.out()).containsPattern("(?m)^ok +clock +tsc$").containsPattern("\nfit: 0 to change first ");

        replace("proc/self/limits", "files            65536", "files            100");
        final CommandLines.Result text =
            CommandLines.run(List.of("doctor", "--root", root.toString(), "--memory", "4"));
        assertThat(text.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(text.out()).containsPattern("(?m)^error +open files +100\n +-> ulimit -n 65536");
        final long errors = text.out().lines().filter((line) -> line.startsWith("error ")).count();
        final long warnings = text.out().lines().filter((line) -> line.startsWith("warning ")).count();
        assertThat(text.out()).as("what it comes to").endsWith("not fit: " + errors + " to change first (error), " +
            warnings + " that may wait (warning)\n");
        final CommandLines.Result json =
            CommandLines.run(List.of("doctor", "--root", root.toString(), "--memory", "4", "--json"));
        assertThat(json.status()).isEqualTo(ExitStatus.FAILED);
        final Map<String, Object> figures = JsonReader.object(json.out());
        assertThat(figures.get("fit")).isEqualTo(false);
        assertThat((List<?>)figures.get("findings")).hasSize(15).anySatisfy((finding) -> assertThat(finding).isEqualTo(
            Map.of("check", "open files", "level", "error", "value", "100", "advice",
                "ulimit -n 65536, or LimitNOFILE=65536 in the unit")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --memory | 0     | --memory 0
        --port   | 65536 | --port 65536
        --root   | /dev/null/x | there is no folder proc in it
        """)
    void shouldRefuseInvalidOptions(final String option, final String value, final String message)
    {
        final CommandLines.Result result = CommandLines.run(List.of("doctor", option, value));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains(message).hasLineCount(1);
    }
}
