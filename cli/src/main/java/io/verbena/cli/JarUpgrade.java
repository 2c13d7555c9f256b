package io.verbena.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Copies a jar with its classes in a newer class file version. An AOT cache takes no class of a version before 50, and
 * the JVM verifies those the slow way: for a library of that age each start pays for both. The launcher calls this
 * after a build. Code stays as it is; stack maps are added.
 */
final class JarUpgrade
{
    /** Java 17. */
    private static final int VERSION = 61;
    private static final String CLASS = ".class";

    private JarUpgrade()
    {
    }

    /**
     * Copies one jar.
     *
     * @param args the jar; the copy, replaced when it is there.
     * @throws IOException when one cannot be read, or the other not be written.
     */
    public static void main(final String[] args) throws IOException
    {
        upgrade(Path.of(args[0]), Path.of(args[1]));
    }

    /** Without its module descriptor and what it has for other Java versions: it is for a class path. */
    static void upgrade(final Path source, final Path target) throws IOException
    {
        try (JarFile jar = new JarFile(source.toFile());
            URLClassLoader loader = new URLClassLoader(
                new URL[] {source.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
            OutputStream file = Files.newOutputStream(target);
            JarOutputStream out = new JarOutputStream(file))
        {
            final ClassFile classFile = ClassFile.of(
                ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofClassLoading(loader)));
            for (final JarEntry entry : jar.stream().toList())
            {
                final String name = entry.getName();
                final boolean isForClassPath =
                    !name.endsWith("module-info.class") && !name.startsWith("META-INF/versions");
                if (!entry.isDirectory() && isForClassPath)
                {
                    out.putNextEntry(new JarEntry(name));
                    try (InputStream in = jar.getInputStream(entry))
                    {
                        final byte[] bytes = in.readAllBytes();
                        out.write(name.endsWith(CLASS) ? upgrade(classFile, bytes) : bytes);
                    }
                    out.closeEntry();
                }
            }
        }
    }

    private static byte[] upgrade(final ClassFile classFile, final byte[] bytes)
    {
        final ClassModel model = classFile.parse(bytes);
        if (model.majorVersion() >= VERSION)
        {
            return bytes;
        }
        return classFile.build(model.thisClass().asSymbol(), (builder) ->
        {
            // First: the methods that follow get stack maps as this version demands them.
            builder.withVersion(VERSION, 0);
            model.forEach((element) ->
            {
                if (element instanceof final MethodModel method)
                {
                    builder.transformMethod(method, MethodTransform.transformingCode(CodeTransform.ACCEPT_ALL));
                }
                else if (!(element instanceof ClassFileVersion))
                {
                    builder.with(element);
                }
            });
        });
    }
}
