package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Mlx5Layouts;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;

/** Every structure and field of {@link VerbsLayouts} and {@link Mlx5Layouts}. */
class VerbsLayoutsTest
{
    private static final LayoutComparison VERBS = new LayoutComparison(
        VerbsLayouts.ALL, VerbsLayouts.PREFIXES, "infiniband/verbs.h", "libibverbs-44-x86_64.txt");
    private static final LayoutComparison MLX5 = new LayoutComparison(
        Mlx5Layouts.ALL, Mlx5Layouts.PREFIXES, "infiniband/mlx5dv.h", "libmlx5-44-x86_64.txt");

    @TempDir
    private Path folder;

    @Test
    void shouldLieAsRecorded() throws IOException
    {
        VERBS.compareWithRecord();
    }

    @Test
    void shouldLieAsTheCompilerSays() throws IOException, InterruptedException
    {
        VERBS.compareWithCompiler(folder);
    }

    @Test
    void shouldLieAsRecordedOfMlx5() throws IOException
    {
        MLX5.compareWithRecord();
    }

    @Test
    void shouldLieAsTheCompilerSaysOfMlx5() throws IOException, InterruptedException
    {
        MLX5.compareWithCompiler(folder);
    }
}
