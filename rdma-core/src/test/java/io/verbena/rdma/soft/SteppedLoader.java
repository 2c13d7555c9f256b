package io.verbena.rdma.soft;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;

/**
 * Loads this package and those in it once more, with {@link Interleaver#step} in front of each access to shared
 * memory: so the code under test is what ships, and every access of it is a step of a schedule. A twin replaces one
 * call of one method.
 */
final class SteppedLoader extends ClassLoader
{
    private static final String PACKAGE = "io.verbena.rdma.soft.";
    private static final List<String> ACCESSORS =
        List.of("io/verbena/rdma/soft/shared/SharedWords", "io/verbena/rdma/spi/RawMemory");
    private static final ClassDesc INTERLEAVER = ClassDesc.of(PACKAGE + "Interleaver");
    private static final ClassDesc TWINS = ClassDesc.of(PACKAGE + "Twins");

    private final Twin twin;
    private volatile boolean hasReplaced;

    /**
     * A wrong variant.
     *
     * @param type        simple name of the class.
     * @param method      of it.
     * @param callee      simple name of a class and a method that is called there, as {@code Type.method}.
     * @param replacement method of {@link Twins} that is called instead.
     */
    record Twin(String type, String method, String callee, String replacement)
    {
    }

    /** @param twin null for the code as it is. */
    SteppedLoader(final Twin twin)
    {
        super(SteppedLoader.class.getClassLoader());
        this.twin = twin;
    }

    /** Whether the call that the twin replaces was found. */
    boolean hasReplaced()
    {
        return hasReplaced;
    }

    @Override
    protected Class<?> loadClass(final String name, final boolean resolve) throws ClassNotFoundException
    {
        if (!name.startsWith(PACKAGE))
        {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name))
        {
            final Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(final String name) throws ClassNotFoundException
    {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class"))
        {
            if (in == null)
            {
                throw new ClassNotFoundException(name);
            }
            final ClassFile classFile = ClassFile.of();
            final ClassModel model = classFile.parse(in.readAllBytes());
            final byte[] bytes = ACCESSORS.contains(model.thisClass().asInternalName()) ?
                classFile.transformClass(model, ClassTransform.ACCEPT_ALL) :
                classFile.transformClass(model, stepped(name.substring(name.lastIndexOf('.') + 1)));
            return defineClass(name, bytes, 0, bytes.length);
        }
        catch (final IOException ex)
        {
            throw new ClassNotFoundException(name, ex);
        }
    }

    private ClassTransform stepped(final String type)
    {
        return (builder, element) ->
        {
            if (element instanceof final MethodModel method)
            {
                final CodeTransform code = stepped(type, method.methodName().stringValue());
                builder.transformMethod(method, MethodTransform.transformingCode(code));
            }
            else
            {
                builder.with(element);
            }
        };
    }

    private CodeTransform stepped(final String type, final String method)
    {
        return (builder, element) ->
        {
            if (!(element instanceof final InvokeInstruction call))
            {
                builder.with(element);
                return;
            }
            if (ACCESSORS.contains(call.owner().asInternalName()))
            {
                builder.invokestatic(INTERLEAVER, "step", ConstantDescs.MTD_void);
            }
            if (isReplaced(type, method, call))
            {
                hasReplaced = true;
                final MethodTypeDesc given = call.typeSymbol();
                final MethodTypeDesc taken = call.opcode().name().equals("INVOKESTATIC") ?
                    given : given.insertParameterTypes(0, call.owner().asSymbol());
                builder.invokestatic(TWINS, twin.replacement, taken);
            }
            else
            {
                builder.with(call);
            }
        };
    }

    private boolean isReplaced(final String type, final String method, final InvokeInstruction call)
    {
        final String owner = call.owner().asInternalName();
        return twin != null && twin.type.equals(type) && twin.method.equals(method) &&
            twin.callee.equals(owner.substring(owner.lastIndexOf('/') + 1) + '.' + call.name().stringValue());
    }
}
