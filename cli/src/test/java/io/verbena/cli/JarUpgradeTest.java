package io.verbena.cli;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Old classes in a newer version: the JVM takes them, and they do what they did. */
class JarUpgradeTest
{
    private static final String CLASS = ".class";
    private static final int LEAST_IN_AOT_CACHE = 50;

    @TempDir
    Path folder;

    private Path upgraded() throws Exception
    {
        final URI old = CommandLine.class.getProtectionDomain().getCodeSource().getLocation().toURI();
        final Path target = folder.resolve("new.jar");
        JarUpgrade.upgrade(Path.of(old), target);
        return target;
    }

    private static List<String> classes(final JarFile jar)
    {
        return jar.stream().map(JarEntry::getName).filter((name) -> name.endsWith(CLASS)).toList();
    }

    @Test
    void shouldLeaveNoClassThatAnAotCacheRefuses() throws Exception
    {
        try (JarFile jar = new JarFile(upgraded().toFile()))
        {
            assertThat(classes(jar)).hasSizeGreaterThan(100).allSatisfy((name) ->
                assertThat(ClassFile.of().parse(jar.getInputStream(jar.getEntry(name)).readAllBytes()).majorVersion())
                    .as(name).isGreaterThanOrEqualTo(LEAST_IN_AOT_CACHE));
        }
    }

    /** Verified when it is initialized, by the stack maps that were added. */
    @Test
    void shouldMakeClassesThatTheJvmVerifies() throws Exception
    {
        final Path target = upgraded();
        try (JarFile jar = new JarFile(target.toFile());
            URLClassLoader loader =
                new URLClassLoader(new URL[] {target.toUri().toURL()}, ClassLoader.getPlatformClassLoader()))
        {
            for (final String name : classes(jar))
            {
                final String className = name.substring(0, name.length() - CLASS.length()).replace('/', '.');
                assertThat(Class.forName(className, true, loader).getClassLoader()).as(name).isSameAs(loader);
            }
            final Class<?> line = Class.forName("picocli.CommandLine", true, loader);
            assertThat(line.getField("VERSION").get(null)).isEqualTo(CommandLine.VERSION);
        }
    }

    @Test
    void shouldSayThatAJarCannotBeRead()
    {
        assertThatThrownBy(() -> JarUpgrade.upgrade(folder.resolve("none.jar"), folder.resolve("new.jar")))
            .isInstanceOf(IOException.class).hasMessageContaining("none.jar");
    }
}
