package io.verbena.cli.autoscale;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Timeout(120)
class CpuQuotaTest
{
    private static final String GROUP = "verbena-bench-" + ProcessHandle.current().pid();

    @TempDir
    private Path mount;

    private String read(final String file) throws IOException
    {
        return Files.readString(mount.resolve(GROUP).resolve(file));
    }

    @Test
    void shouldSayWhyThereIsNone()
    {
        assertThatThrownBy(() -> CpuQuota.open(0.2, List.of("tmpfs /tmp tmpfs rw 0 0")))
            .isInstanceOf(IOException.class).hasMessage("no control groups are mounted that limit processors");
        assertThatThrownBy(() -> CpuQuota.open(0.2, List.of("cgroup " + mount + " cgroup rw,cpuacct 0 0")))
            .as("another controller").hasMessage("no control groups are mounted that limit processors");
        assertThatThrownBy(() -> CpuQuota.open(0.2, List.of("cgroup " + mount + "/absent cgroup rw,cpu 0 0")))
            .hasMessageContaining(mount + "/absent/" + GROUP).message().hasLineCount(1);
    }

    /** Files of a folder in place of those of the kernel. */
    @Test
    void shouldLimitByTheFirstVersion() throws IOException
    {
        final CpuQuota quota = CpuQuota.open(0.2, List.of("cgroup " + mount + " cgroup rw,relatime,cpu 0 0"));
        quota.limit(4711);
        assertThat(read("process-4711/cpu.cfs_period_us")).isEqualTo("10000");
        assertThat(read("process-4711/cpu.cfs_quota_us")).isEqualTo("2000");
        assertThat(read("process-4711/cgroup.procs")).isEqualTo("4711");
        assertThat(read("cpu.shares")).isEqualTo("16384");
    }

    @Test
    void shouldLimitByTheSecondVersion() throws IOException
    {
        final CpuQuota quota = CpuQuota.open(0.5, List.of("cgroup2 " + mount + " cgroup2 rw 0 0"));
        quota.limit(4711);
        assertThat(Files.readString(mount.resolve("cgroup.subtree_control"))).isEqualTo("+cpu");
        assertThat(read("cgroup.subtree_control")).isEqualTo("+cpu");
        assertThat(read("process-4711/cpu.max")).isEqualTo("5000 10000");
        assertThat(read("process-4711/cgroup.procs")).isEqualTo("4711");
    }

    /** Where this user may make control groups. */
    @Test
    void shouldHoldAProcessToItAndLeaveNothing() throws IOException
    {
        final Process process = new ProcessBuilder("sleep", "100").start();
        try
        {
            try (CpuQuota quota = open())
            {
                quota.limit(process.pid());
                assertThat(Files.readString(Path.of("/proc/" + process.pid() + "/cgroup")))
                    .contains(GROUP + "/process-" + process.pid());
            }
            assertThat(process.isAlive()).isTrue();
            assertThat(Files.readAllLines(Path.of("/proc/mounts")).stream()
                .filter((line) -> line.contains(" cgroup")).map((line) -> Path.of(line.split(" ")[1], GROUP)))
                .noneMatch(Files::exists);
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    private static CpuQuota open() throws IOException
    {
        try
        {
            return CpuQuota.open(0.2, Files.readAllLines(Path.of("/proc/mounts")));
        }
        catch (final IOException ex)
        {
            assumeTrue(false, "no control groups: " + ex.getMessage());
            throw ex;
        }
    }
}
